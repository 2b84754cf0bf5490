"""Expands references with a language model, as `refract expand` does."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ._run import DONE, FAILED, Run
from .errors import RefractError
from .segments import Segment
from .sets import read, write

Flag = str | int | float | bool | Sequence[str] | None
Dataset = str | os.PathLike[str] | Iterable[Segment]


@dataclass(frozen=True)
class Progress:
    """How far the work is.

    done of total units ("variants", say) are done; total is None while it is unknown.
    counts are shown beside it, such as "from cache", and so are notes, such as the cost.
    seconds have passed since the begin, and finished is true once.
    """

    label: str
    done: int
    total: int | None
    unit: str
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    finished: bool = False


@dataclass(frozen=True)
class Expansion:
    """An expanded set.

    complete is False where a segment has fewer variants than wanted, or the budget is spent:
    the same call goes on from there. messages are what the program said: the summary,
    warnings, and what to do. output is the file, if one was named.
    """

    segments: list[Segment]
    complete: bool
    messages: tuple[str, ...]
    output: Path | None


def expand(
    dataset: Dataset,
    *,
    model: str,
    output: str | os.PathLike[str] | None = None,
    base_url: str | Sequence[str] | None = None,
    prompts: str | None = None,
    complete: int | None = None,
    judge: str | None = None,
    audit: int | None = None,
    prices: str | None = None,
    max_cost: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    flags: Mapping[str, Flag] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Expansion:
    """Have a model rewrite every reference, and return the set with the variants.

    dataset is a list of Segment, or what `refract expand` takes: "jsonl:data.jsonl". The server is
    at base_url or $OPENAI_BASE_URL, its key in $OPENAI_API_KEY. The arguments are the flags of
    `refract expand` by these names; flags has further ones: {"samples": 2, "max-calls": 1000}.
    max_cost is in the currency of prices.

    Every answer is stored in cache before it is used (refract-cache.sqlite in the working
    folder by default): the same call asks for nothing twice. An interruption waits for the
    calls in flight; a second one does not. progress is called in a thread, up to twice a second.
    """
    with ExitStack() as stack:
        work = _Work(stack, dataset, output)
        return work.finish(Run(work.arguments(locals()), _takes(progress)))


async def aexpand(
    dataset: Dataset,
    *,
    model: str,
    output: str | os.PathLike[str] | None = None,
    base_url: str | Sequence[str] | None = None,
    prompts: str | None = None,
    complete: int | None = None,
    judge: str | None = None,
    audit: int | None = None,
    prices: str | None = None,
    max_cost: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    flags: Mapping[str, Flag] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Expansion:
    """Expand as expand() does, without blocking the event loop.

    Cancelling the task asks the program to end, and waits for the calls in flight.
    """
    with ExitStack() as stack:
        work = _Work(stack, dataset, output)
        run = Run(work.arguments(locals()), _takes(progress))
        thread = asyncio.ensure_future(asyncio.to_thread(work.finish, run))
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            run.interrupt()
            await asyncio.wait([thread])
            raise


_FLAGS = ("model", "base_url", "prompts", "complete", "judge", "audit", "prices", "max_cost", "cache")


class _Work:
    """The files of an expansion: its input, and its output until it is whole."""

    def __init__(self, stack: ExitStack, dataset: Dataset, output: str | os.PathLike[str] | None) -> None:
        self.output = None if output is None else Path(output)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="refract-")))
        self._written = (folder if self.output is None else self.output.parent) / f".expanded.{os.getpid()}.jsonl"
        stack.callback(lambda: self._written.unlink(missing_ok=True))
        if isinstance(dataset, (str, os.PathLike)):
            self._spec = os.fspath(dataset)
        else:
            write(dataset, folder / "set.jsonl")
            self._spec = f"jsonl:{folder / 'set.jsonl'}"

    def arguments(self, given: Mapping[str, object]) -> list[str]:
        """Make the command line of the arguments of expand()."""
        arguments = ["expand", self._spec, "-o", str(self._written)]
        if given["progress"] is not None:
            arguments += ["--progress", "json"]
        flags = {name: given[name] for name in _FLAGS} | dict(given["flags"] or {})  # type: ignore[call-overload]
        for name, value in flags.items():
            flag = "--" + name.replace("_", "-")
            if isinstance(value, bool):
                arguments.append(f"{flag}={str(value).lower()}")
            elif isinstance(value, (str, int, float, os.PathLike)):
                arguments.append(f"{flag}={value}")
            elif value is not None:
                arguments += [f"{flag}={v}" for v in value]
        return arguments

    def finish(self, run: Run) -> Expansion:
        """Wait for the program, and read what it wrote."""
        code = run.wait((DONE, FAILED))
        if not self._written.is_file():
            raise RefractError("\n".join(run.messages[-10:]) or f"refract expand ended with exit code {code}")
        segments = read(self._written)
        if self.output is not None:
            os.replace(self._written, self.output)
        return Expansion(segments, code == DONE, tuple(run.messages), self.output)


def _takes(progress: Callable[[Progress], object] | None) -> Callable[[str], bool]:
    def takes(line: str) -> bool:
        if progress is None or not line.startswith('{"progress":'):
            return False
        said = json.loads(line)
        progress(
            Progress(
                label=said["progress"],
                done=said["done"],
                total=said["total"],
                unit=said["unit"],
                seconds=said["seconds"],
                counts=said["counts"],
                notes=said["notes"],
                finished=said["finished"],
            )
        )
        return True

    return takes

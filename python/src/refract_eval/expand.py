"""Expands references with a language model, as `refract expand` does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from ._pending import awaits, waits
from ._run import DONE, FAILED, Flag, Run, command_line
from .segments import Segment
from .sets import Dataset, dataset_file, lines_path, read, unnamed


@dataclass(frozen=True)
class Progress:
    """The progress of the work.

    done of total units ("variants", say) are done; total is None while it is unknown. counts, such as "from
    cache", and notes, such as the cost, add details. seconds is the time since the start, and finished is true
    only in the last call.
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

    complete is True if every segment has at least one variant and all requested ones: N with complete=N,
    otherwise one for each prompt, sample and reference that is not missing. It is False if answers were
    rejected or failed. (A spent budget is a RefractError; the same call continues from there.) messages are the
    program's summary, warnings and advice. output is the file, if one was named.
    """

    segments: list[Segment]
    complete: bool
    messages: tuple[str, ...]
    output: Path | None


def _expand(
    dataset: Dataset,
    *,
    model: str,
    output: str | os.PathLike[str] | None = None,
    base_url: str | Sequence[str] | None = None,
    prompts: str | None = None,
    complete: int | None = None,
    judge: str | None = None,
    prices: str | None = None,
    max_cost: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    flags: Mapping[str, Flag] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> _Work:
    """Have a model rewrite every reference, and return the set with the variants.

    dataset is a list of Segment, a list of references as texts, whose ids are "1", "2", …, or what `refract
    expand` takes: "jsonl:data.jsonl". The server is at base_url
    or $OPENAI_BASE_URL, its key in $OPENAI_API_KEY. The arguments are flags of `refract expand`; flags has
    others: {"samples": 2, "max-calls": 1000}. max_cost is in the currency of prices.

    Every answer is stored in cache (by default refract-cache.sqlite in the working folder) before it is used,
    so the same call never asks twice. An interruption waits for the calls in flight; a second one does not.
    Cancelling the task of aexpand() is an interruption too. progress is called in a thread, up to twice a
    second; an exception in it interrupts the work and is raised here.
    """
    named: dict[str, Flag] = {
        "model": model,
        "base_url": base_url,
        "prompts": prompts,
        "complete": complete,
        "judge": judge,
        "prices": prices,
        "max_cost": max_cost,
        "cache": None if cache is None else os.fspath(cache),
        "progress": "json",
    }
    named |= flags or {}
    return _Work(
        dataset=dataset,
        output=None if output is None else lines_path(output),
        flags=list(command_line(named)),
        completes=bool(named["complete"]),
        told=_Told(progress),
    )


@waits(_expand)
def expand() -> None:  # noqa: D103
    ...


@awaits(_expand)
def aexpand() -> None:
    """Await what expand() returns, which does not block the event loop."""


@dataclass(frozen=True)
class _Work:
    """A run of the program that has not started."""

    dataset: Dataset
    output: Path | None
    flags: Sequence[str]
    completes: bool  # up to a number of variants
    told: _Told

    def wait(self) -> Expansion:
        with self._running() as (run, written):
            return self._finish(run, written)

    async def awaited(self) -> Expansion:
        with self._running() as (run, written):
            thread = asyncio.ensure_future(asyncio.to_thread(self._finish, run, written))
            try:
                return await asyncio.shield(thread)
            except asyncio.CancelledError:
                run.interrupt()
                await asyncio.wait([thread])
                raise

    @contextlib.contextmanager
    def _running(self) -> Iterator[tuple[Run, Path]]:
        """Start the program; yield it and the file that it writes, which is removed at the end."""
        with tempfile.TemporaryDirectory(prefix="refract-") as made:
            folder = Path(made)
            written = (folder if self.output is None else self.output.parent) / f".expanded.{os.getpid()}.jsonl"
            spec = dataset_file(self.dataset, folder / "set.jsonl")
            try:
                names = unnamed(folder / "set.jsonl") | {str(written): str(self.output or "OUTPUT")}
                yield Run(["expand", spec, "-o", str(written), *self.flags], self.told.takes, names), written
            finally:
                written.unlink(missing_ok=True)

    def _finish(self, run: Run, written: Path) -> Expansion:
        code = run.wait((DONE, FAILED))
        if not written.is_file():
            raise run.error(code)
        segments = read(written)
        if self.output is not None:
            os.replace(written, self.output)
        whole = code == DONE and (self.completes or self.told.all) and all(_expanded(s) for s in segments)
        return Expansion(segments, whole, tuple(run.messages), self.output)


def _expanded(s: Segment) -> bool:
    return any(v.text is not None for v in s.variants)


_FIELDS = [f.name for f in fields(Progress) if f.name != "label"]


class _Told:
    """What the program reports: its progress, and whether the result is complete."""

    def __init__(self, progress: Callable[[Progress], object] | None) -> None:
        self._progress = progress
        self.all = True

    def takes(self, line: str) -> bool:
        if not line.startswith('{"progress":'):
            return False
        said = json.loads(line)
        now = Progress(label=said["progress"], **{name: said[name] for name in _FIELDS})
        if now.label == "expand":
            self.all = now.total is None or now.done >= now.total
        if self._progress is not None:
            self._progress(now)
        return True

"""Commands of the program, with segments of Python: systems, check, select, experiment and report.

Their keyword arguments are the flags of the commands: metric=["bleu", "chrf"], aggregate="max", per="segment". A metric
may be a function, as for score().
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._metric import Metric, raised, spec
from ._run import Flag, Run, command_line
from .errors import RefractError
from .scorer import metrics_of
from .segments import Segment
from .sets import Dataset, given, read

Setting = Flag | Metric | Sequence[str | Metric]


def systems(dataset: Dataset, **flags: Setting) -> list[dict[str, Any]]:
    """Test which systems are better, as `refract systems` does; return a row for each system, or each pair.

    Flags are metric, aggregate, test, table="pairs", against and others. With human="NAME", rows are mean judgements
    from the judged segments and the scores of all.
    """
    return _rows("systems", dataset, flags)


def check(dataset: Dataset, **flags: Setting) -> list[dict[str, Any]]:
    """Check variants as `refract check` does, and return its counts. output="FILE" writes the checked set."""
    return _rows("check", dataset, flags)


def select(dataset: Dataset, count: int | str = "all", **flags: Setting) -> list[Segment]:
    """Keep some variants of each segment, as `refract select` does: by="farthest", without_alarms=True and others."""
    with tempfile.TemporaryDirectory(prefix="refract-") as folder:
        chosen = Path(folder) / "chosen.jsonl"
        with given(dataset) as (place, names):
            Run(["select", place, "-k", str(count), "-o", str(chosen), *_line(flags)], names=names).wait()
        return read(chosen)


def report(dataset: Dataset, output: str | os.PathLike[str], **flags: Setting) -> Path:
    """Write the page of `refract report`, and return its path. The segments need judgements (Segment.human)."""
    with _raising(), given(dataset) as (place, names):
        Run(["report", place, "-o", os.fspath(output), *_line(flags)], names=names).wait()
    return Path(output)


def experiment(plan: Mapping[str, Any] | str | os.PathLike[str], **flags: Setting) -> Any:
    """Run an experiment, as `refract experiment` does, and return its result, or with table="…" that table's rows.

    plan is a file, or what such a file has as a dict, in which paths start from the working folder.
    """
    if not isinstance(plan, Mapping):
        return _experiment(Path(plan), flags, {})
    made, name = tempfile.mkstemp(prefix=".refract-", suffix=".yaml", dir=".")
    path = Path(name)
    try:
        with open(made, "w", encoding="utf-8") as f:
            json.dump(dict(plan), f)  # JSON is YAML
        return _experiment(path, flags, {str(path): "PLAN", path.name: "PLAN"})
    finally:
        path.unlink()


def _experiment(path: Path, flags: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    return _json(["experiment", str(path), *_line({"format": "json", **flags})], names)


def _rows(command: str, dataset: Dataset, flags: Mapping[str, Any]) -> list[dict[str, Any]]:
    with given(dataset) as (place, names):
        return list(_json([command, place, *_line({"format": "json", **flags})], names))


def _line(flags: Mapping[str, Any]) -> Iterator[str]:
    """Return flags as a command line; metrics that are functions are named for the program."""
    metrics = metrics_of(flags["metric"]) if flags.get("metric") is not None else []
    named = {"metric": [m if isinstance(m, str) else spec(m) for m in metrics]} if metrics else {}
    return command_line({**flags, **named})


@contextlib.contextmanager
def _raising() -> Iterator[None]:
    """Raise what a function raised in place of what the program says of it."""
    try:
        yield
    except RefractError as e:
        if error := raised(str(e)):
            raise error from error.__cause__
        raise


def _json(arguments: list[str], names: Mapping[str, str]) -> Any:
    if wrong := [a for a in arguments if a.startswith("--format=") and a != "--format=json"]:
        raise ValueError(f"{wrong[0]}: the result is read as JSON; for another format run the program itself")
    with _raising(), tempfile.TemporaryFile() as out:
        Run(arguments, names=names, stdout=out.fileno()).wait()
        out.seek(0)
        return json.load(out)

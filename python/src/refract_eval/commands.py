"""Commands of the program, with segments of Python: systems, check, select, experiment and report.

Their keyword arguments are the flags of the commands: metric=["bleu", "chrf"], aggregate="max", per="segment".
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._run import Flag, Run, command_line
from .segments import Segment
from .sets import Dataset, given, read


def systems(dataset: Dataset, **flags: Flag) -> list[dict[str, Any]]:
    """Test which systems are better, as `refract systems` does; return a row for each system, or each pair.

    Flags are metric, aggregate, test, table="pairs", against and others. With human="NAME", rows are mean judgements
    from the judged segments and the scores of all.
    """
    return _rows("systems", dataset, flags)


def check(dataset: Dataset, **flags: Flag) -> list[dict[str, Any]]:
    """Check variants as `refract check` does, and return its counts. output="FILE" writes the checked set."""
    return _rows("check", dataset, flags)


def select(dataset: Dataset, count: int | str = "all", **flags: Flag) -> list[Segment]:
    """Keep some variants of each segment, as `refract select` does: by="farthest", without_alarms=True and others."""
    with tempfile.TemporaryDirectory(prefix="refract-") as folder:
        chosen = Path(folder) / "chosen.jsonl"
        with given(dataset) as (spec, names):
            Run(["select", spec, "-k", str(count), "-o", str(chosen), *command_line(flags)], names=names).wait()
        return read(chosen)


def report(dataset: Dataset, output: str | os.PathLike[str], **flags: Flag) -> Path:
    """Write the page of `refract report`, and return its path. The segments need judgements (Segment.human)."""
    with given(dataset) as (spec, names):
        Run(["report", spec, "-o", os.fspath(output), *command_line(flags)], names=names).wait()
    return Path(output)


def experiment(plan: Mapping[str, Any] | str | os.PathLike[str], **flags: Flag) -> Any:
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


def _experiment(path: Path, flags: Mapping[str, Flag], names: Mapping[str, str]) -> Any:
    return _json(["experiment", str(path), *command_line({"format": "json", **flags})], names)


def _rows(command: str, dataset: Dataset, flags: Mapping[str, Flag]) -> list[dict[str, Any]]:
    with given(dataset) as (spec, names):
        return list(_json([command, spec, *command_line({"format": "json", **flags})], names))


def _json(arguments: list[str], names: Mapping[str, str]) -> Any:
    with tempfile.TemporaryFile() as out:
        Run(arguments, names=names, stdout=out.fileno()).wait()
        out.seek(0)
        return json.load(out)

"""Reads and writes sets of segments."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ._run import Run
from .segments import Segment, segment_from_json, segment_to_json, segments_of

# More variants than any segment has, so that `refract select` keeps all.
_ALL = "1000000000"
_OTHERS = (".arrow", ".csv", ".parquet", ".tsv", ".txt", ".xlsx", ".xml", ".zst")
_FOLDERS = ("jsonl", "parquet", "csv", "text", "mtme", "div-ref")


def read(
    dataset: str | os.PathLike[str],
    *,
    hypotheses: Mapping[str, str | os.PathLike[str]] | None = None,
    human: Mapping[str, str | os.PathLike[str]] | None = None,
) -> list[Segment]:
    """Read a set, in order.

    dataset is a JSON Lines file (maybe compressed by gzip), a Parquet file, a table in CSV or TSV with its
    columns ("table:x.csv,id=nr,reference=ref,system:mine=output"), a folder written by `publish`, or
    anything that `refract help datasets` lists, as FORMAT:PLACE: "mtme:data/wmt22/zh-en". The program reads all
    formats except JSON Lines.

    hypotheses are files of outputs by system, and human tables of scores (id, system, score) by the name of the
    scores, as --hyp and --human of `refract compare` take them.
    """
    spec = os.fspath(dataset)
    path = Path(spec)
    if path.is_dir():
        spec = f"published:{spec}" if (path / "manifest.json").is_file() else f"parquet:{spec}"
    elif path.suffix == ".parquet":
        spec = f"parquet:{spec}"
    elif path.suffix == ".zst":
        spec = f"jsonl:{spec}"
    elif path.suffix in (".csv", ".tsv"):
        spec = f"table:{spec}"
    elif path.is_file() or not re.match(r"[a-z0-9-]{2,}:", spec):
        if not hypotheses and not human and path.suffix != ".json":
            return list(_read_lines(path))
        spec = f"jsonl:{spec}"
    joined = [
        argument
        for flag, files in (("--hyp", hypotheses), ("--human", human))
        for name, file in (files or {}).items()
        for argument in (flag, f"{name}={os.fspath(file)}")
    ]
    with tempfile.TemporaryDirectory(prefix="refract-") as folder:
        lines = Path(folder) / "set.jsonl"
        Run(["select", spec, "-k", _ALL, "--by", "order", "-o", str(lines), *joined]).wait()
        return list(_read_lines(lines))


def write(
    segments: Iterable[Segment],
    path: str | os.PathLike[str],
    to: str | None = None,
    license: str | None = None,
) -> None:
    """Write a set: a JSON Lines file, compressed if path ends in .gz, or a folder.

    With to, path is a new folder that `refract publish` writes, with a card and a manifest: "jsonl", "parquet",
    "csv", "text", "mtme" or "div-ref", and license is its licence, such as "cc-by-4.0". It has
    references, but no outputs of systems. A file appears only when it is complete.
    """
    if to is None and license is not None:
        raise ValueError("a licence belongs to a published folder: give to='parquet' or another format")
    if to is not None:
        path = Path(path)
        if to not in _FOLDERS:
            raise ValueError(f"to is one of {', '.join(_FOLDERS)}, not {to!r}")
        with given(segments) as (spec, names):
            arguments = ["publish", spec, "--to", to, "-o", str(path)]
            arguments += [] if license is None else ["--license", license]
            Run(arguments, names=names).wait()
        return
    path = lines_path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write_lines(segments, part, packed=path.suffix == ".gz")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


Dataset = str | os.PathLike[str] | Iterable[Segment | str]


def dataset_file(dataset: Dataset, lines: Path) -> str:
    """Return what the program takes for a dataset: its name, or a file of the segments, written to lines."""
    if isinstance(dataset, (str, os.PathLike)):
        return os.fspath(dataset)
    write((Segment(str(i), [s]) if isinstance(s, str) else s for i, s in enumerate(segments_of(dataset), 1)), lines)
    return f"jsonl:{lines}"


@contextlib.contextmanager
def given(dataset: Dataset) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield what the program takes for a dataset, and the names that messages give to our file."""
    with tempfile.TemporaryDirectory(prefix="refract-") as folder:
        lines = Path(folder) / "set.jsonl"
        yield dataset_file(dataset, lines), unnamed(lines)


def unnamed(lines: Path) -> dict[str, str]:
    """Return the name used in messages for our file with the caller's segments."""
    return {f"jsonl:{lines}": "SEGMENTS", str(lines): "segments"}


def lines_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a JSON Lines file; refuse a name that suggests another format."""
    path = Path(path)
    if path.name.removesuffix(".gz").endswith(_OTHERS):
        raise ValueError(
            f"{path}: JSON Lines are written: give a path in .jsonl or .jsonl.gz, "
            "or to='parquet' for a folder with Parquet files"
        )
    return path


def _read_lines(path: Path) -> Iterator[Segment]:
    seen: dict[str, int] = {}
    with path.open("rb") as f:
        packed = f.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if packed else path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as e:
                raise ValueError(f"{where}: not UTF-8 at byte {e.start + 1} of the line: convert the file") from None
            try:
                read = json.loads(text, object_pairs_hook=_without_repeats)
            except json.JSONDecodeError as e:
                raise ValueError(f"{where}: no JSON at character {e.pos + 1}: {text[:40].strip()!r}") from None
            except ValueError as e:
                raise ValueError(f"{where}: {e}") from None
            segment = segment_from_json(read, where)
            if segment.id in seen:
                raise ValueError(f"{where}: the id {segment.id!r} is also in line {seen[segment.id]}")
            seen[segment.id] = number
            yield segment


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [k for k, _ in pairs]
        raise ValueError(f"the key {next(k for k in names if names.count(k) > 1)!r} is repeated")
    return read


def _write_lines(segments: Iterable[Segment], path: Path, packed: bool = False) -> None:
    with path.open("xb") as raw:
        out: Any = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if packed else raw
        try:
            for s in segments_of(segments):
                line = json.dumps(segment_to_json(s), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
                out.write(line.encode() + b"\n")
        finally:
            if packed:
                out.close()

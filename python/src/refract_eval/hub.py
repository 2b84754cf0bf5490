"""Sets to and from Hugging Face's datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._texts import texts
from .segments import Segment, Variant, segment_to_json, segments_of

if TYPE_CHECKING:
    import datasets


def to_datasets(segments: Iterable[Segment]) -> datasets.Dataset:
    """Return a datasets.Dataset with a row for each segment.

    Its columns are id, source, references (list of texts), variants (list of structures with reference, prompt,
    sample, model, text and finish), hypotheses (a structure of texts by system), human_systems and human (a
    list of structures with name, system and score), document and domain; the columns of hypotheses and
    judgements exist only if the set has any. Rejected answers and the other fields of variants are omitted;
    write() keeps them. Needs datasets: pip install refract-eval[datasets].
    """
    import datasets

    rows = segments_of(segments)
    for s in rows:
        segment_to_json(s)  # refuses what is none
    systems = list(dict.fromkeys(name for s in rows for name in s.hypotheses))
    text = datasets.Value("string")
    number = datasets.Value("int64")
    variant = {
        "reference": datasets.Value("int32"),  # the type that read() requires in Parquet files
        "prompt": text,
        "sample": number,
        "model": text,
        "text": text,
        "finish": text,
    }
    features: dict[str, Any] = {"id": text, "source": text, "references": datasets.Sequence(text)}
    features["variants"] = [variant]
    if systems:
        features["hypotheses"] = dict.fromkeys(systems, text)
    if any(s.human_systems for s in rows):
        features["human_systems"] = datasets.Sequence(text)
    if any(s.human for s in rows):
        features["human"] = [{"name": text, "system": text, "score": datasets.Value("float64")}]
    features |= {"document": text, "domain": text}
    columns: dict[str, list[Any]] = {name: [_column(s, name, systems, variant) for s in rows] for name in features}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))


def from_datasets(
    dataset: Iterable[Mapping[str, Any]],
    references: str = "references",
    source: str | None = "source",
    hypotheses: str | Mapping[str, str] | None = "hypotheses",
    id: str | None = "id",
    document: str | None = "document",
    domain: str | None = "domain",
    variants: str | None = "variants",
) -> list[Segment]:
    """Read the rows of a datasets.Dataset, or any rows that are mappings.

    The arguments name columns; a dot selects a part of a structure, as in "translation.zh". The column of
    references has texts or lists of texts. hypotheses is a column of structures by system, or a column for each
    system: {"mine": "output"}. All columns but references may be absent. Without ids, the ids are the numbers
    of the rows, from 1; messages count rows from 0. Judgements are in the columns human and human_systems that
    to_datasets() makes.
    """
    if isinstance(dataset, Mapping):
        raise TypeError(f"dataset is a {type(dataset).__name__} of {', '.join(map(repr, dataset))}: give one of them")
    rows = list(dataset)
    if wrong := [type(row).__name__ for row in rows if not isinstance(row, Mapping)]:
        raise TypeError(f"dataset has rows of the type {wrong[0]}, not mappings of columns")
    return [
        _segment(row, i, references, source, hypotheses, id, document, domain, variants) for i, row in enumerate(rows)
    ]


def _column(s: Segment, name: str, systems: Sequence[str], variant: Mapping[str, Any]) -> Any:
    if name == "variants":
        return [{field: getattr(v, field) for field in variant} for v in s.variants]
    if name == "hypotheses":
        return {system: s.hypotheses.get(system) for system in systems}
    if name in ("references", "human_systems"):
        return list(getattr(s, name))
    if name == "human":
        return [{"name": n, "system": system, "score": x} for n, of in s.human.items() for system, x in of.items()]
    return getattr(s, name)


def _segment(
    row: Mapping[str, Any],
    i: int,
    references: str,
    source: str | None,
    hypotheses: str | Mapping[str, str] | None,
    id: str | None,
    document: str | None,
    domain: str | None,
    variants: str | None,
) -> Segment:
    found = _get(row, references, f"row {i}")
    refs: list[Any] = [found] if isinstance(found, str) else [] if found is None else list(found)
    named = row.get(id) if id else None
    return Segment(
        id=str(i + 1 if named is None else named),
        references=texts(refs, f"row {i}: {references}"),
        source=_optional(row, source),
        variants=[_variant(v) for v in (row.get(variants) or [])] if variants else [],
        hypotheses=_hypotheses(row, hypotheses, i),
        human_systems=row.get("human_systems") or (),
        human=_human(row.get("human") or (), f"row {i}: human"),
        document=_optional(row, document),
        domain=_optional(row, domain),
    )


def _variant(v: Mapping[str, Any]) -> Variant:
    fields = ("text", "reference", "prompt", "sample", "model", "finish")
    known = {k: v[k] for k in fields if v.get(k) is not None}
    return Variant(**{"text": None, **known})


def _human(judgements: Any, where: str) -> dict[str, dict[str, float | None]]:
    read: dict[str, dict[str, float | None]] = {}
    for j in judgements:
        if not isinstance(j, Mapping) or not {"name", "system", "score"} <= j.keys():
            raise TypeError(f"{where} has {j!r}, not a structure with name, system and score")
        read.setdefault(j["name"], {})[j["system"]] = j["score"]
    return read


def _hypotheses(row: Mapping[str, Any], columns: str | Mapping[str, str] | None, i: int) -> dict[str, str | None]:
    if columns is None:
        return {}
    if isinstance(columns, str):
        return dict(row.get(columns) or {})
    return {name: _get(row, column, f"row {i}") for name, column in columns.items()}


def _optional(row: Mapping[str, Any], column: str | None) -> str | None:
    if column is None or column.split(".")[0] not in row:
        return None
    value = _get(row, column, "")
    return None if value is None else str(value)


def _get(row: Mapping[str, Any], column: str, where: str) -> Any:
    value: Any = row
    for name in [column] if column in row else column.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise KeyError(f"{where}: there is no column {column!r}; there are {', '.join(row)}")
        value = value[name]
    return value

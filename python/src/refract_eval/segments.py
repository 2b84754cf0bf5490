"""A segment of a set: a source, its references, outputs of systems and judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Variant:
    """An expanded reference. text is None if it is missing.

    reference is the index of the original that it rewrites, from 0; other has the remaining fields of
    docs/reference/formats.md, such as "raw", "verdict" and "alarms".
    """

    text: str | None
    reference: int = 0
    prompt: str = ""
    sample: int = 0
    model: str = ""
    finish: str = ""
    other: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Segment:
    """A line of a set in JSON Lines (docs/reference/formats.md).

    references are the originals, in which None is a missing one; variants follow them. Hypotheses are by
    system; human has judgements by name and system, and ratings those of each rater by the rater's name.
    rejected holds a model's answers that were not accepted, and judged what a judge of meaning said.
    """

    id: str
    references: Sequence[str | None] = ()
    source: str | None = None
    variants: Sequence[Variant] = ()
    hypotheses: Mapping[str, str | None] = field(default_factory=dict)
    human_systems: Sequence[str] = ()
    human: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    document: str | None = None
    domain: str | None = None
    language: str | None = None
    rejected: Sequence[Variant] = ()
    judged: Mapping[str, Any] | None = None
    ratings: Mapping[str, Mapping[str, Mapping[str, float | None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Turn sequences into tuples, so that equal segments compare equal."""
        if not isinstance(self.id, str):
            raise TypeError(f"id is a {type(self.id).__name__}, not a text: {self.id!r}")
        if isinstance(self.references, str):
            raise TypeError(f"references is a str, not a list; give [{self.references[:40]!r}]")
        for name in ("references", "variants", "human_systems", "rejected"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def all_references(self) -> list[str | None]:
        """The originals and their variants, in the order in which metrics see them."""
        return [*self.references, *(v.text for v in self.variants)]


_VARIANT = ("reference", "prompt", "sample", "model", "text", "finish")
_SEGMENT = {
    "id": str,
    "source": str,
    "references": list,
    "variants": list,
    "hypotheses": dict,
    "human_systems": list,
    "human": dict,
    "document": str,
    "domain": str,
    "language": str,
    "rejected": list,
    "judged": dict,
    "ratings": dict,
}


def segments_of(given: Any) -> list[Any]:
    """Read a list, or anything else with an order, whose elements should be segments."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"segments is a {type(given).__name__}, not a list of Segment: read() makes one")
    return list(given)


def segment_to_json(s: Segment) -> dict[str, Any]:
    """Return the object for a line of JSON Lines, without empty fields."""
    if not isinstance(s, Segment):
        raise TypeError(f"segments has a {type(s).__name__}, not a Segment: give what read() returns")
    line: dict[str, Any] = {"id": s.id}
    if s.source is not None:
        line["source"] = s.source
    line["references"] = list(s.references)
    if s.variants:
        line["variants"] = [_variant_to_json(v) for v in s.variants]
    if s.hypotheses:
        line["hypotheses"] = dict(s.hypotheses)
    if s.human_systems:
        line["human_systems"] = list(s.human_systems)
    if s.human:
        line["human"] = {name: dict(scores) for name, scores in s.human.items()}
    if s.ratings:
        line["ratings"] = dict(s.ratings)
    stated = (("document", s.document), ("domain", s.domain), ("language", s.language))
    line |= {k: v for k, v in stated if v is not None}
    if s.rejected:
        line["rejected"] = [_variant_to_json(v) for v in s.rejected]
    if s.judged:
        line["judged"] = dict(s.judged)
    return line


def segment_from_json(line: Any, where: str) -> Segment:
    """Read such an object; where is a prefix for errors."""
    if not isinstance(line, dict):
        raise ValueError(f"{where}: want an object, not {type(line).__name__}")
    if unknown := [k for k in line if k not in _SEGMENT]:
        raise ValueError(f"{where}: unknown field {unknown[0]!r}: there are {', '.join(_SEGMENT)}")
    given = {k: v for k, v in line.items() if v is not None}
    for k, v in given.items():
        if not isinstance(v, _SEGMENT[k]):
            raise ValueError(f"{where}: {k} is a {type(v).__name__}, not a {_SEGMENT[k].__name__}")
    if "id" not in given:
        raise ValueError(f"{where}: there is no id")
    for name in ("variants", "rejected"):
        if name in given:
            given[name] = [_variant_from_json(v, f"{where}: {name}[{i}]") for i, v in enumerate(given[name])]
    return Segment(**given)


def _variant_to_json(v: Variant) -> dict[str, Any]:
    return {name: getattr(v, name) for name in _VARIANT} | dict(v.other)


def _variant_from_json(v: Any, where: str) -> Variant:
    if not isinstance(v, dict):
        raise ValueError(f"{where} is a {type(v).__name__}, not an object")
    known = {k: v[k] for k in _VARIANT if k in v and (v[k] is not None or k == "text")}
    return Variant(**{"text": None, **known}, other={k: x for k, x in v.items() if k not in _VARIANT})

"""Scores, as `refract score` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from ._texts import printable

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")


@dataclass(frozen=True)
class SystemScore:
    """The score of one system over all its segments.

    score is None if no segment has one. method says how it was computed: "corpus" by the metric's own rule for
    corpora, "mean" over segments. segments counts all segments, and scored those with a score. statistics has, if
    an adapter asked for it, what each segment adds to the score, and an empty row for a segment without a score.
    """

    score: float | None
    method: str
    segments: int
    scored: int
    statistics: Sequence[Sequence[float]] = ()


@dataclass(frozen=True, repr=False)
class Setting:
    """The scores of one metric under one aggregator.

    systems has a score for each system; segments a list of n scores for each, in the order of the hypotheses,
    with None if there is none; then status[system][i] says why, such as "missing hypothesis", and otherwise it
    is "". direction is "higher" or "lower": which scores are better. signature states all that changes the
    systems' numbers, and segment_signature all that changes the segments': sentence BLEU, for example, uses the
    effective order. aggregator is "" for a metric without references.

    The unit is the metric's: BLEU, chrF and chrF++ range from 0 to 100, TER from 0 (best) upwards in per cent,
    ROUGE from 0 to 1; `refract metrics NAME` shows others.
    """

    metric: str
    aggregator: str
    signature: str
    segment_signature: str
    direction: str
    systems: Mapping[str, SystemScore]
    segments: Mapping[str, list[float | None]]
    status: Mapping[str, list[str]]

    @property
    def score(self) -> float | None:
        """The score of the only system."""
        return _only(self.systems, "system", "systems").score

    @property
    def method(self) -> str:
        """How the systems' scores were computed, "corpus" or "mean"; "" if there are none."""
        return next((s.method for s in self.systems.values()), "")

    @property
    def per_segment(self) -> list[float | None]:
        """The n scores of the only system."""
        return _only(self.segments, "system", "segments")

    def __repr__(self) -> str:
        """Show the scores of systems, and the signature."""
        systems = ", ".join(f"{name}: {_shown(s.score)}" for name, s in self.systems.items())
        return printable(f"<{_named(self)}: {systems} ({self.signature})>")


@dataclass(frozen=True, repr=False)
class Cells:
    """One metric's scores of every pair, with cells=True.

    scores[system][i][k] is the score of hypothesis i against reference k: n lists, each as long as its
    segment's references. status has the same shape, as in a Setting.
    """

    metric: str
    signature: str
    scores: Mapping[str, list[list[float | None]]]
    status: Mapping[str, list[list[str]]]

    def __repr__(self) -> str:
        """Describe the content without the numbers."""
        return printable(f"<cells of {self.metric}: {', '.join(self.scores)} ({self.signature})>")


@dataclass(frozen=True, repr=False)
class Scores:
    """The result of score(): a Setting for each metric and aggregator.

    scores["chrf"] is a metric's only setting, scores["chrf", "max"] one of several. A function f is "exec:f", and
    scores["f"] finds it too. ended says for each metric
    that failed why; warnings are sentences.
    """

    settings: tuple[Setting, ...]
    cells: tuple[Cells, ...] = ()
    warnings: tuple[str, ...] = ()
    ended: Mapping[str, str] = field(default_factory=dict)
    ids: tuple[str, ...] = ()

    def __getitem__(self, key: str | tuple[str, str]) -> Setting:
        """Return the setting of a metric, or of a metric and an aggregator."""
        metric, aggregator = (key, None) if isinstance(key, str) else key
        names = [s.metric for s in self.settings]
        metric = metric if metric in names else f"exec:{metric}" if f"exec:{metric}" in names else metric
        found = [s for s in self.settings if s.metric == metric and aggregator in (None, s.aggregator)]
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"[{s.metric!r}, {s.aggregator!r}]" for s in found or self.settings)
        raise KeyError(f"{'several are' if found else 'none is'} {key!r}; there are {there}")

    def __iter__(self) -> Iterator[Setting]:
        """Iterate over the settings."""
        return iter(self.settings)

    def __len__(self) -> int:
        """Count the settings."""
        return len(self.settings)

    @property
    def score(self) -> float | None:
        """The score, if there is only one metric, aggregator and system."""
        return self._one("score").score

    @property
    def per_segment(self) -> list[float | None]:
        """The n scores, if there is only one metric, aggregator and system."""
        return self._one("per_segment").per_segment

    @property
    def systems(self) -> dict[tuple[str, str], dict[str, float | None]]:
        """Scores of systems, by (metric, aggregator) and system."""
        return {_key(s): {name: v.score for name, v in s.systems.items()} for s in self.settings}

    @property
    def segments(self) -> dict[tuple[str, str], dict[str, list[float | None]]]:
        """Lists of n scores, by (metric, aggregator) and system."""
        return {_key(s): dict(s.segments) for s in self.settings}

    @property
    def status(self) -> dict[tuple[str, str], dict[str, list[str]]]:
        """Why scores are None, in the shape of segments; "" for a score."""
        return {_key(s): dict(s.status) for s in self.settings}

    @property
    def signatures(self) -> dict[tuple[str, str], str]:
        """Signatures by (metric, aggregator)."""
        return {_key(s): s.signature for s in self.settings}

    def to_pandas(self, level: str = "segment") -> pandas.DataFrame:
        """Return a row for each metric, aggregator, system and, by default, segment.

        level is "segment" or "system". Needs pandas: pip install refract-eval[pandas].
        """
        import pandas

        if level not in ("segment", "system"):
            raise ValueError(f"level is 'segment' or 'system', not {level!r}")
        return pandas.DataFrame(list(self._rows(level)))

    def _rows(self, level: str) -> Iterator[dict[str, Any]]:
        for s in self.settings:
            for name, total in s.systems.items():
                row = {"metric": s.metric, "aggregator": s.aggregator, "system": name}
                if level == "system":
                    yield {**row, "score": total.score, "method": total.method, "signature": s.signature}
                    continue
                for id, score, status in zip(self.ids, s.segments[name], s.status[name], strict=True):
                    yield {**row, "segment": id, "score": score, "status": status, "signature": s.segment_signature}

    def _one(self, what: str) -> Setting:
        if len(self.settings) == 1:
            return self.settings[0]
        there = ", ".join(f"scores[{s.metric!r}, {s.aggregator!r}].{what}" for s in self.settings)
        raise ValueError(f"there are several: {there}")

    def __repr__(self) -> str:
        """Show a table of the scores of systems."""
        head, *rows = self._table()
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = []
        for row in [head, *rows]:
            cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        head, *rows = ["".join(f"<td>{escape(c)}</td>" for c in row) for row in self._table()]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def _notes(self) -> list[str]:
        ended = [f"ended: {metric}: {why}" for metric, why in self.ended.items()]
        return [printable(note) for note in [*ended, *(f"warning: {w}" for w in self.warnings)]]

    def _table(self) -> list[list[str]]:
        """Return rows with the scores of systems; the first row is the header."""
        names = list(dict.fromkeys(name for s in self.settings for name in s.systems))
        rows = [
            [
                _named(s),
                *(_shown(s.systems[n].score) if n in s.systems else "" for n in names),
            ]
            for s in self.settings
        ]
        return [[printable(c) for c in row] for row in [["", *names], *rows]]


def read_scores(result: Mapping[str, Any], ids: list[str], warnings: list[str]) -> Scores:
    """Make Scores from the result of the method score, and warnings about the arguments."""
    return Scores(
        settings=tuple(_setting(s) for s in result["settings"]),
        cells=tuple(_cells(c) for c in result.get("cells") or ()),
        warnings=(*warnings, *(result.get("warnings") or ())),
        ended=dict(result.get("ended") or {}),
        ids=tuple(ids),
    )


def _setting(s: Mapping[str, Any]) -> Setting:
    segments = {name: [_float(x) for x in scores] for name, scores in (s.get("segments") or {}).items()}
    return Setting(
        metric=s["metric"],
        aggregator=s["aggregator"] or "",
        signature=s["signature"],
        segment_signature=s.get("segment_signature", s["signature"]),
        direction=s["direction"],
        systems={
            name: SystemScore(_float(v["score"]), v["method"], v["segments"], v["scored"], v.get("statistics", ()))
            for name, v in (s.get("systems") or {}).items()
        },
        segments=segments,
        status=s.get("status") or {name: [""] * len(scores) for name, scores in segments.items()},
    )


def _cells(c: Mapping[str, Any]) -> Cells:
    scores = {name: [[_float(x) for x in row] for row in rows] for name, rows in c["scores"].items()}
    return Cells(
        metric=c["metric"],
        signature=c["signature"],
        scores=scores,
        status=c.get("status") or {name: [[""] * len(row) for row in rows] for name, rows in scores.items()},
    )


def _key(s: Setting) -> tuple[str, str]:
    return (s.metric, s.aggregator)


def _float(score: float | None) -> float | None:
    return None if score is None else float(score)  # JSON has 100 for 100.0


def _named(s: Setting) -> str:
    name = f"{s.metric} {s.aggregator}".rstrip()
    if s.aggregator == "native":  # a metric's own rule matters only with several references
        references = s.signature.partition("|")[0].removeprefix("nrefs:")
        many = {"1": "", "var": " over several references"}
        name = s.metric + many.get(references, f" over {references} references")
    return name + (f" ({s.method})" if s.method else "")


def _shown(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


def _only(of: Mapping[str, T], one: str, what: str) -> T:
    if len(of) == 1:
        return next(iter(of.values()))
    there = ", ".join(f".{what}[{name!r}]" for name in of) or "none"
    raise ValueError(f"there must be exactly one {one}: {there}")

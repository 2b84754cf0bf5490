"""Scores as rewards: 0 is the worst that the metric can give, and 1 the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._texts import texts
from ..functions import metrics, score

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Rewards:
    """A metric and an aggregator, and the scores between which rewards go from 0 to 1.

    Scores beyond the bounds are cut. Where lower scores are better, the lower bound has the
    reward 1.
    """

    metric: str
    aggregate: str
    bounds: Bounds

    def of(
        self,
        hypotheses: Sequence[str | None],
        references: Sequence[Sequence[str | None]],
        sources: Sequence[str | None] | None = None,
    ) -> list[float | None]:
        """Return a reward for each hypothesis, in one request; None where there is no score."""
        rewards: list[float | None] = [None] * len(hypotheses)
        there = [i for i, h in enumerate(hypotheses) if h is not None and any(r is not None for r in references[i])]
        if not there:
            return rewards
        scores = score(
            [hypotheses[i] for i in there],
            [references[i] for i in there],
            self.metric,
            self.aggregate,
            None if sources is None else [sources[i] for i in there],
            layout="segment",
        )
        (setting,) = scores
        for i, s in zip(there, setting.per_segment, strict=True):
            rewards[i] = None if s is None else self._scaled(s, setting.direction)
        return rewards

    def _scaled(self, score: float, direction: str) -> float:
        low, high = self.bounds
        share = min(max((score - low) / (high - low), 0.0), 1.0)
        return 1.0 - share if direction == "lower" else share


def rewards(metric: str, aggregate: str, bounds: Sequence[float] | None) -> Rewards:
    """Make Rewards with the bounds that are given, or else those of the metric."""
    low, high = _bounds(metric) if bounds is None else bounds
    if not low < high:
        raise ValueError(f"bounds are a lower and a higher score, not {low} and {high}")
    return Rewards(metric, aggregate, (float(low), float(high)))


def row(value: Any, where: str) -> list[str | None]:
    """Read the references of one hypothesis: a text, a list, or an object that has one of them."""
    if isinstance(value, Mapping):
        for name in NAMES:
            if name in value:
                return row(value[name], f"{where}[{name!r}]")
        raise ValueError(f"{where} has neither {NAMES[0]!r} nor {NAMES[1]!r}: it has {', '.join(map(str, value))}")
    if value is None or isinstance(value, str):
        return [value]
    return texts(value, where)


NAMES = ("references", "reference")


def _bounds(metric: str) -> Sequence[float]:
    name = metric.partition(":")[0]
    for m in metrics():
        if m["name"] == name and m["option"] is None:
            if m["lower"] is None or m["upper"] is None:
                raise ValueError(
                    f"{name} goes from {m['lower']} to {m['upper']}: rewards want both, as in bounds=(0, 100)"
                )
            return (m["lower"], m["upper"])
    raise ValueError(f"metric {name!r}: there is none of this name, of which bounds are known: give bounds=")

"""Scores as rewards: 0 is the metric's worst possible score, and 1 its best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..functions import score
from ._given import known

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Rewards:
    """A metric and an aggregator, and the scores with rewards 0 and 1.

    Rewards of scores beyond the bounds are clipped. If lower scores are better, the lower bound has the reward
    1.
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
        """Return a reward for each hypothesis, in one request; None if there is no score."""
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
    """Make Rewards with the given bounds, or else the metric's."""
    low, high = _bounds(metric) if bounds is None else bounds
    if not low < high:
        raise ValueError(f"bounds are a lower and a higher score, not {low} and {high}")
    return Rewards(metric, aggregate, (float(low), float(high)))


def _bounds(metric: str) -> Sequence[float]:
    found = known(metric)
    if found is None:
        raise ValueError(f"metric {metric!r}: its bounds are not known: give bounds=")
    if found["lower"] is None or found["upper"] is None:
        raise ValueError(
            f"{found['name']} goes from {found['lower']} to {found['upper']}: rewards want both, as in bounds=(0, 100)"
        )
    return (found["lower"], found["upper"])

"""Scores of segments that carry their texts, so that a library's aggregation can score the corpus."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import stdev
from typing import Any

from .._metric import Metric
from ..functions import _shared
from ..scorer import Settings
from ..scores import Setting
from ._given import label


class SegmentScore(float):
    """The score of a segment, NaN if there is none, and the texts it is computed from.

    A library can average, store and pickle it like a number.
    """

    hypothesis: str | None
    references: Sequence[str | None]
    source: str | None
    status: str  # why there is no score
    signature: str


@dataclass
class Corpus:
    """A metric and an aggregator, for libraries that score segments first and then aggregate.

    signature is the signature of the last scored corpus.
    """

    metric: str | Metric = "chrf"
    aggregate: str = "max"
    signature: str = field(default="", init=False)

    def segment(
        self, hypothesis: str | None, references: Sequence[str | None], source: str | None = None
    ) -> SegmentScore:
        """Score a segment, as `refract score --per segment` does."""
        of = setting([hypothesis], [references], self.metric, self.aggregate, _given([source]), "segment")
        ((number,),) = of.segments.values()
        made = SegmentScore(math.nan if number is None else number)
        made.hypothesis, made.references, made.source = hypothesis, references, source
        made.status, made.signature = why(of), of.segment_signature
        return made

    def total(self, segments: Sequence[SegmentScore]) -> float:
        """Score the corpus of the segments in one request, as `refract score` does."""
        of = self._of(segments)
        self.signature = of.signature
        for i, (alone, among) in enumerate(zip(segments, of.per_segment, strict=True)):
            if among is not None and alone != among:
                raise ValueError(
                    f"sample {i} has the score {float(alone)} by itself, and {among} among the others: "
                    f"{label(self.metric)} learns from the whole set, and is not for a library that scores samples one "
                    "by one"
                )
        (system,) = of.systems.values()
        if system.score is None:
            raise ValueError(f"none of {len(segments)} samples has a score of {label(self.metric)}: {why(of)}")
        if system.scored < system.segments:
            lacking = system.segments - system.scored
            warnings.warn(f"{lacking} of {len(segments)} samples have no score: {why(of)}", stacklevel=2)
        return system.score

    def standard_error(self, segments: Sequence[SegmentScore]) -> float:
        """Return the standard error of total(): of a mean by its formula, of a corpus score by 100 resamples.

        NaN if fewer than two segments have a score.
        """
        of = self._of(segments, statistics=True)
        (system,) = of.systems.values()
        rows = [list(row) for row in system.statistics if row]
        if len(rows) < 2:
            return math.nan
        if system.method == "mean":
            return stdev(score for (score,) in rows) / math.sqrt(len(rows))
        from .sacrebleu import resampled

        return stdev(resampled(of.metric, rows, 100))

    def _of(self, segments: Sequence[SegmentScore], statistics: bool = False) -> Setting:
        hypotheses, references = [s.hypothesis for s in segments], [s.references for s in segments]
        sources = _given([s.source for s in segments])
        return setting(hypotheses, references, self.metric, self.aggregate, sources, "segment", statistics)


def setting(
    hypotheses: Sequence[str | None],
    references: Sequence[Any],
    metric: str | Metric,
    aggregate: str,
    sources: Sequence[str | None] | None = None,
    layout: str | None = None,
    statistics: bool = False,
) -> Setting:
    """Score one system with one metric, like score(); if the metric fails, raise an error.

    With statistics, SystemScore.statistics is set.
    """
    request = Settings(metric, aggregate).of_texts(_shared, hypotheses, references, sources, None, layout, False)
    if statistics:
        request = replace(request, params={**request.params, "per": ["system", "segment", "statistics"]})
    scores = request.wait()
    if not scores.settings or scores.ended:
        raise ValueError(f"{label(metric)} did not score: {', '.join(scores.ended.values())}")
    return scores.settings[0]


def why(of: Setting) -> str:
    """Say why scores are missing."""
    return ", ".join(sorted({why for statuses in of.status.values() for why in statuses if why}))


def _given(sources: Sequence[str | None]) -> Sequence[str | None] | None:
    return sources if any(s is not None for s in sources) else None

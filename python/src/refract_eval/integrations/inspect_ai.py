"""A scorer for tasks of inspect_ai: Task(scorer=refract("chrf", "max"), …)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState

from .._metric import Metric as Function
from ._corpus import Corpus, SegmentScore
from ._given import label, row


@metric
def corpus() -> Metric:
    """Score the corpus of all samples in one request, as `refract score` does.

    NaN, which is missing, where a sample has several outputs: a corpus has one epoch.
    """

    def total(scores: list[SampleScore]) -> float:
        segments = [_segment(s) for s in scores]
        if None in segments:
            return math.nan
        (settings,) = {(of["metric"], of["aggregate"]) for s in scores if (of := s.score.metadata)}
        return Corpus(*settings).total([s for s in segments if s is not None])

    return total


@scorer(metrics=[corpus(), mean(), stderr()])
def refract(
    metric: str | Function = "chrf",
    aggregate: str = "max",
    *,
    references: str | None = None,
    source: str | None = None,
    extract: Callable[[str], str] | None = None,
) -> Scorer:
    """Score the output of each sample against all its references.

    References are the sample's targets, or metadata[references] if that is given, where None is a missing one.
    metadata[source] is the source. metric and aggregate are as for score(). extract returns the part of
    an output to score.
    """
    made = Corpus(metric, aggregate)

    async def one(state: TaskState, target: Target) -> Score:
        given = target.target if references is None else state.metadata[references]
        said = state.output.completion
        segment = await asyncio.to_thread(
            made.segment,
            said if extract is None else extract(said),
            row(given, "references"),
            None if source is None else state.metadata[source],
        )
        return Score(
            value=float(segment),
            answer=segment.hypothesis,
            explanation=segment.status or None,
            metadata={
                "metric": label(metric),
                "aggregate": aggregate,
                "references": list(segment.references),
                "source": segment.source,
                "signature": segment.signature,
                "score": None if math.isnan(segment) else float(segment),
            },
        )

    return one


def _segment(sample: SampleScore) -> SegmentScore | None:
    """Read back what a Score keeps, in a log too; None for one of several outputs, which has no answer."""
    known: Any = sample.score.metadata
    if known is None or sample.score.answer is None:
        return None
    alone = known["score"]  # of the first epoch; the value depends on how epochs are reduced
    segment = SegmentScore(math.nan if alone is None else alone)
    segment.hypothesis, segment.references, segment.source = sample.score.answer, known["references"], known["source"]
    return segment

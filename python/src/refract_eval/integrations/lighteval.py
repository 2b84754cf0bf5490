"""Metrics for tasks of lighteval: LightevalTaskConfig(metrics=[make_metric("chrf")], …)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.tasks.requests import Doc, SamplingMethod

from ._corpus import Corpus, SegmentScore
from ._given import higher_is_better, name_of, row, untyped


class Computation(Corpus, untyped(SampleLevelComputation), untyped(CorpusLevelComputation)):  # type: ignore[misc]
    """Both halves of a metric, which the results show with its signature."""

    def __init__(self, metric: str, aggregate: str, references: str | None, source: str | None) -> None:
        """Take the settings, as make_metric() does."""
        super().__init__(metric, aggregate)
        self.references: str | None = references
        self.source: str | None = source

    def compute(self, doc: Doc, model_response: Any, **_: Any) -> SegmentScore:
        """Score the first text of a response against all references of its document."""
        given = doc.get_golds() if self.references is None else self._specific(doc, self.references)
        source = None if self.source is None else self._specific(doc, self.source)
        return self.segment(model_response.final_text[0], row(given, "references"), source)

    def compute_corpus(self, items: Sequence[SegmentScore]) -> float:
        """Score the corpus of all samples in one request."""
        return self.total(items)

    def _specific(self, doc: Doc, name: str) -> Any:
        there = doc.specific or {}
        if name not in there:
            raise ValueError(f"document {doc.id} has no {name!r} in specific: it has {', '.join(there) or 'nothing'}")
        return there[name]


def make_metric(
    metric: str = "chrf",
    aggregate: str = "max",
    *,
    references: str | None = None,
    source: str | None = None,
) -> CorpusLevelMetric:
    """Make a metric of a task.

    The references of a document are its golds (choices at gold_index), or specific[references]
    if that is given; specific[source] is its source. metric and aggregate are as for score().
    """
    computation = Computation(metric, aggregate, references, source)
    return CorpusLevelMetric(
        metric_name=name_of(metric, aggregate),
        higher_is_better=higher_is_better(metric),
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=computation,
        corpus_level_fn=computation,
    )

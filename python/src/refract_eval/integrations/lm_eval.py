"""Metrics for tasks of lm-evaluation-harness: ConfigurableTask(config={…, **task_config(Metric("chrf"))})."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._corpus import Corpus, SegmentScore
from ._given import higher_is_better, name_of, row


class Metric(Corpus):
    """A metric of a task.

    references and source are columns of the task's documents: references has a list of texts, in which None is
    a missing one, or a text.
    """

    def __init__(
        self,
        metric: str = "chrf",
        aggregate: str = "max",
        *,
        references: str = "references",
        source: str | None = None,
    ) -> None:
        """Take the settings; metric and aggregate are as for score()."""
        super().__init__(metric, aggregate)
        self.name = name_of(metric, aggregate)
        self._references, self._source = references, source
        self.metadata: dict[str, str] = {}  # signature by name, when the corpus is scored

    def process_results(self, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, SegmentScore]:
        """Score a document's output, for the task's process_results."""
        for column in (self._references, self._source):
            if column is not None and column not in doc:
                raise ValueError(f"a document has no column {column!r}: it has {', '.join(doc)}")
        references = row(doc[self._references], self._references)
        return {self.name: self.segment(results[0], references, doc[self._source] if self._source else None)}

    def aggregation(self, segments: Sequence[SegmentScore]) -> float:
        """Score the corpus, for the aggregation of the task's metric."""
        total = self.total(segments)
        self.metadata[self.name] = self.signature
        return total


def task_config(*metrics: Metric) -> dict[str, Any]:
    """Return what a task's config needs: process_results, metric_list and metadata.

    Signatures appear in the results under configs, in the task's metadata.
    """
    signatures: dict[str, str] = {}
    for metric in metrics:
        metric.metadata = signatures

    def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, SegmentScore]:
        return {name: s for metric in metrics for name, s in metric.process_results(doc, results).items()}

    listed = [
        {"metric": m.name, "aggregation": m.aggregation, "higher_is_better": higher_is_better(m.metric)}
        for m in metrics
    ]
    return {"process_results": process_results, "metric_list": listed, "metadata": {"signatures": signatures}}

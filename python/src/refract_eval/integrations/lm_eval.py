"""Metrics for tasks of lm-evaluation-harness: ConfigurableTask(config={…, **task_config(Metric("chrf"))})."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._metric import Metric as Function
from ._corpus import Corpus, SegmentScore
from ._given import higher_is_better, name_of, row

Aggregation = Callable[[Sequence[SegmentScore]], float]


class Metric(Corpus):
    """A metric of a task.

    references and source are columns of the task's documents: references has a list of texts, in which None is
    a missing one, or a text.
    """

    def __init__(
        self,
        metric: str | Function = "chrf",
        aggregate: str = "max",
        *,
        references: str = "references",
        source: str | None = None,
    ) -> None:
        """Take the settings; metric and aggregate are as for score()."""
        super().__init__(metric, aggregate)
        self.name: str = name_of(metric, aggregate)
        self._references, self._source = references, source

    def process_results(self, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, SegmentScore]:
        """Score a document's output, for the corpus and for its standard error."""
        for column in (self._references, self._source):
            if column is not None and column not in doc:
                raise ValueError(f"a document has no column {column!r}: it has {', '.join(doc)}")
        references = row(doc[self._references], self._references)
        score = self.segment(results[0], references, doc[self._source] if self._source else None)
        return {self.name: score, f"{self.name}_se": score}

    def listed(self, signatures: dict[str, str]) -> list[dict[str, Any]]:
        """Return the task's entries for the corpus and its standard error; the signature goes to signatures."""

        def corpus(segments: Sequence[SegmentScore]) -> float:
            total = self.total(segments)
            signatures[self.name] = self.signature
            return total

        def standard_error(segments: Sequence[SegmentScore]) -> float:
            return self.standard_error(segments)

        return [
            {"metric": self.name, "aggregation": corpus, "higher_is_better": higher_is_better(self.metric)},
            {"metric": f"{self.name}_se", "aggregation": standard_error, "higher_is_better": False},
        ]


class _Signatures(dict[str, str]):
    """Signatures of what was scored, which stay the same object in a task's copy of its config."""

    def __deepcopy__(self, memo: object) -> _Signatures:
        return self


def task_config(*metrics: Metric) -> dict[str, Any]:
    """Return what a task's config needs: process_results, metric_list and metadata.

    The standard errors are metrics with names in _se, because the harness has no hook for those of others. The
    signatures appear in the results under configs, in the task's metadata.
    """
    signatures = _Signatures()

    def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, SegmentScore]:
        return {name: s for metric in metrics for name, s in metric.process_results(doc, results).items()}

    listed = [entry for metric in metrics for entry in metric.listed(signatures)]
    return {"process_results": process_results, "metric_list": listed, "metadata": {"signatures": signatures}}


def references(doc: Mapping[str, Any]) -> str:
    """Return a document's references as a text, for doc_to_target: the harness scores lists one text at a time."""
    return json.dumps({"references": row(doc, "document")})

"""Metrics of sacreBLEU's kind: Metric("chrf", "max").corpus_score(hypotheses, streams), also for its tests.

The program computes the statistics of segments; resamples of them are scored in this process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.base import Metric as Base
from sacrebleu.metrics.base import Score, Signature
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import _bootstrap_resample

from .._metric import Metric as Function
from .._texts import references_by_segment
from ..scores import Setting
from ._corpus import setting, why
from ._given import label, untyped

Texts = Sequence[str | None]


class MetricSignature(untyped(Signature)):  # type: ignore[misc]
    """Refract's signature, to which sacreBLEU's tests add their settings."""

    def __init__(self, args: dict[str, Any]) -> None:
        """Take the attributes of a Metric."""
        super().__init__(args)
        self.info |= dict(pair.partition(":")[::2] for pair in args["signature"].split("|"))
        self._abbr: dict[str, str] = {name: name for name in self.info} | self._abbr


class Metric(untyped(Base)):  # type: ignore[misc]
    """A metric like sacreBLEU's BLEU, CHRF and TER: for corpus_score(n_bootstrap=…), PairedTest and its other uses.

    metric and aggregate are as for score(); "native" is sacreBLEU's own rule for several references. A missing text
    is None in a stream, and a stream has a text for each hypothesis. references are streams that are used where
    None is given instead.
    """

    _SIGNATURE_TYPE: type[MetricSignature] = MetricSignature

    def __init__(
        self,
        metric: str | Function = "bleu",
        aggregate: str = "native",
        references: Sequence[Texts] | None = None,
    ) -> None:
        """Take the settings."""
        super().__init__()
        self.metric: str | Function = metric
        self.aggregate: str = aggregate
        self.num_refs: int
        self.signature: str
        self.name: str = label(metric) if aggregate == "native" else f"{label(metric)} {aggregate}"
        self._pooled: Base | None = None  # scores sums of its statistics; None if the score is a mean
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def corpus_score(self, hypotheses: Texts, references: Sequence[Texts] | None, n_bootstrap: int = 1) -> Score:
        """Score n hypotheses against streams of n references: references[k][i] is the k-th of hypothesis i.

        With n_bootstrap, the score has the mean and the 95 % interval of as many resamples.
        """
        made: Score = super().corpus_score(hypotheses, references, n_bootstrap)
        return made

    def get_signature(self) -> Signature:
        """Return the signature of the last score: it states the references."""
        made: Signature = super().get_signature()
        return made

    def sentence_score(self, hypothesis: str | None, references: Texts) -> Score:
        """Score one hypothesis against its references, as `refract score --per segment` does."""
        if isinstance(references, str):
            raise TypeError("references is a list of texts, not a text")
        of = setting([hypothesis], [references], self.metric, self.aggregate, layout="segment")
        return Score(self.name, self._number(of.per_segment[0], of.segment_signature, of))

    def _check_corpus_score_args(self, hyps: Texts, refs: Sequence[Texts] | None) -> None:
        """Leave it to _extract_corpus_statistics(), which takes a hypothesis that is missing."""

    def _cache_references(self, references: Sequence[Texts], n: int | None = None) -> list[list[str | None]]:
        if isinstance(references, str) or any(isinstance(stream, str) for stream in references):
            raise TypeError("references is a list of streams, and each of these a list of texts")
        n = len(next(iter(references), ())) if n is None else n
        return references_by_segment(references, {"": [None] * n}, "reference")

    def _extract_corpus_statistics(self, hypotheses: Texts, references: Sequence[Texts] | None) -> _Statistics:
        lists = self._ref_cache if references is None else self._cache_references(references, len(hypotheses))
        if lists is None:
            raise ValueError("there are no references: give them here, or to Metric(references=…)")
        of = setting(hypotheses, lists, self.metric, self.aggregate, layout="segment", statistics=True)
        self._pooled = _theirs(of.metric) if of.method == "corpus" else None
        (system,) = of.systems.values()
        width = max(map(len, system.statistics), default=0)
        rows = [
            [*(row or [0.0] * width), *([] if self._pooled else [float(bool(row))])]  # of a mean, with its number
            for row in system.statistics
        ]
        return _Statistics(rows, self._number(system.score, of.signature, of))

    def _number(self, score: float | None, signature: str, of: Setting) -> float:
        if score is None:
            raise ValueError(f"{self.name} gives no score: {why(of)}")
        self.num_refs, self.signature = 0, signature  # which has the number of references
        return score

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        score = self._compute_score_from_stats([math.fsum(column) for column in zip(*stats, strict=True)])
        if isinstance(stats, _Statistics):
            score.score = stats.score  # the program's, to the last digit
        return score

    def _compute_score_from_stats(self, stats: Any) -> Score:
        if self._pooled is not None:
            score: Score = self._pooled._compute_score_from_stats(stats)
        elif stats[1]:
            score = Score("", float(stats[0] / stats[1]))
        else:
            raise ValueError(f"a resample has no segment with a score of {self.name}")
        score.name = self.name
        return score

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Texts) -> dict[str, Any]:
        return {"refs": refs}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        return self._extract_corpus_statistics([hypothesis], [[r] for r in ref_kwargs["refs"]])[0]


class _Statistics(list[list[float]]):
    """A row for each segment, and the score of their sum."""

    def __init__(self, rows: list[list[float]], score: float) -> None:
        super().__init__(rows)
        self.score = score


_THEIRS = {
    "bleu": (BLEU, {"smooth": "smooth_method", "order": "max_ngram_order", "effective-order": "effective_order"}),
    "chrf": (CHRF, {"char-order": "char_order", "word-order": "word_order", "beta": "beta", "eps": "eps_smoothing"}),
    "ter": (TER, {}),
}


def _theirs(metric: str) -> Base:
    """Make sacreBLEU's metric whose statistics add up to a score in the same way."""
    name, _, rest = metric.partition(":")
    options = {"word-order": "2"} if name == "chrf++" else {}
    options |= {key: value for key, _, value in (option.partition("=") for option in rest.split(","))}
    make, names = _THEIRS[name.rstrip("+")]
    numbers = {"yes": 1, "no": 0}
    given: dict[str, Any] = {names[k]: numbers.get(v, v) for k, v in options.items() if k in names}
    given = {k: v if k == "smooth_method" else float(v) if k == "beta" else int(v) for k, v in given.items()}
    if value := options.get("smooth-value"):
        given["smooth_value"] = float(value)
    made: Base = make(**given)
    return made


def resampled(metric: str, rows: list[list[float]], n: int) -> list[float]:
    """Return the corpus scores of n resamples of segments, by their statistics."""
    _, scores = _bootstrap_resample(rows, _theirs(metric), n)
    return [float(s.score) for s in scores]

"""Metrics with the interface of sacreBLEU's: Metric("chrf").corpus_score(hypotheses, streams)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..scores import Setting
from ._corpus import setting, why


@dataclass(frozen=True)
class Score:
    """A score, its metric and its signature."""

    name: str
    score: float
    signature: str

    def format(self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False) -> str:
        """Show the score like sacreBLEU."""
        number = f"{self.score:.{width}f}"
        if is_json:
            return json.dumps({"name": self.name, "score": float(number), "signature": signature or self.signature})
        return number if score_only else f"{signature or self.name} = {number}"

    def __str__(self) -> str:
        """Show the name and the score."""
        return self.format()


class Metric:
    """A metric that is called like sacreBLEU's BLEU, CHRF and TER.

    metric and aggregate are as for score(); "native" is sacreBLEU's own rule for several
    references. A missing text is None in a stream; streams that differ in length are refused.
    """

    def __init__(self, metric: str = "bleu", aggregate: str = "native") -> None:
        """Take the settings."""
        self.name, self.aggregate = metric, aggregate
        self._signature = ""

    def corpus_score(self, hypotheses: Sequence[str | None], references: Sequence[Sequence[str | None]]) -> Score:
        """Score n hypotheses against streams of n references: references[k][i] is the k-th of hypothesis i."""
        if isinstance(references, str) or any(isinstance(stream, str) for stream in references):
            raise TypeError("references is a list of streams, and each of these a list of texts")
        of = setting(hypotheses, references, self.name, self.aggregate, layout="reference")
        return self._score(of.score, of.signature, of)

    def sentence_score(self, hypothesis: str, references: Sequence[str | None]) -> Score:
        """Score one hypothesis against its references."""
        if isinstance(references, str):
            raise TypeError("references is a list of texts, not a text")
        of = setting([hypothesis], [references], self.name, self.aggregate, layout="segment")
        return self._score(of.per_segment[0], of.segment_signature, of)

    def get_signature(self) -> str:
        """Return the signature of the last score: it states the references."""
        if not self._signature:
            raise ValueError("there is no signature before the first score")
        return self._signature

    def _score(self, number: float | None, signature: str, of: Setting) -> Score:
        if number is None:
            raise ValueError(f"{self.name} gives no score: {why(of)}")
        self._signature = signature
        return Score(self.name, number, signature)

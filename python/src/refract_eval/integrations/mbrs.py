"""A metric for mbrs, which scores each matrix of hypotheses and references in one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from mbrs import timer
from mbrs.metrics import Metric, register
from torch import Tensor

from .._client import Client
from ..functions import score
from ._given import higher_is_better, untyped


@register("refract")
class MetricRefract(untyped(Metric)):  # type: ignore[misc]
    """Metric of the program refract; scores are float64 and equal `refract score`'s."""

    @dataclass
    class Config(untyped(Metric.Config)):  # type: ignore[misc]
        """Configuration of the metric.

        - name (str): The metric, as `refract score -m` takes it, such as "chrf++" or "bleu:tokenize=intl". -
        aggregate (str): How corpus_score() combines several references, such as "max" or "native".
        """

        name: str = "chrf"
        aggregate: str = "max"

    cfg: Config

    def __init__(self, cfg: Config) -> None:
        """Start the program and ask it which scores are better."""
        super().__init__(cfg)
        self._client = Client()
        self.HIGHER_IS_BETTER = higher_is_better(cfg.name)

    def score(self, hypothesis: str, reference: str, source: str | None = None) -> float:
        """Score one pair."""
        return float(self.pairwise_scores([hypothesis], [reference], source).item())

    def scores(self, hypotheses: list[str], references: list[str], sources: list[str] | None = None) -> Tensor:
        """Score N pairs."""
        with timer.measure("score") as t:
            t.set_delta_ncalls(len(hypotheses))
            given: Sequence[str | None] = sources or [None] * len(hypotheses)
            pairs = zip(hypotheses, references, given, strict=True)
            return self._cells([({"0": h}, [r], s) for h, r, s in pairs])[0, :, 0]

    def pairwise_scores(self, hypotheses: list[str], references: list[str], source: str | None = None) -> Tensor:
        """Score H hypotheses against R references: a matrix of H rows and R columns."""
        with timer.measure("score") as t:
            t.set_delta_ncalls(len(hypotheses) * len(references))
            return self._cells([({str(i): h for i, h in enumerate(hypotheses)}, references, source)])[:, 0]

    def corpus_score(
        self, hypotheses: list[str], references_lists: list[list[str]], sources: list[str] | None = None
    ) -> float:
        """Score N hypotheses against lists of N references, as `refract score -a AGGREGATE` does."""
        scores = score(hypotheses, references_lists, self.cfg.name, self.cfg.aggregate, sources, layout="reference")
        if scores.score is None:
            raise ValueError(f"{self.cfg.name} gives no score: {scores.ended or scores.status}")
        return scores.score

    def _cells(self, segments: Sequence[tuple[dict[str, str], list[str], str | None]]) -> Tensor:
        """Return systems × segments × references."""
        asked = [{"hypotheses": h, "references": r, "source": s} for h, r, s in segments]
        params = {"segments": asked, "metrics": [self.cfg.name], "aggregate": ["mean"], "per": ["cell"]}
        said: dict[str, Any] = self._client.call("score", params)
        (cells,) = said["cells"]
        if status := cells.get("status"):
            why = sorted({s for rows in status.values() for row in rows for s in row if s})
            raise ValueError(f"{cells['metric']} does not score every pair: {', '.join(why)} {said.get('ended', '')}")
        return torch.tensor([cells["scores"][name] for name in segments[0][0]], dtype=torch.float64)

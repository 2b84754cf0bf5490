"""A metric for Hugging Face evaluate: Refract("chrf"), or evaluate.load(PATH OF THIS FILE, "chrf")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

# Not relative, because evaluate.load() copies this file.
from refract_eval.integrations._corpus import setting
from refract_eval.integrations._given import untyped


class Refract(untyped(evaluate.Metric)):  # type: ignore[misc]
    """A metric whose configuration is its name: "chrf", "bleu:tokenize=intl", …"""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="Scores against several references, as the program refract does.",
            citation="",
            inputs_description="predictions: n texts; references: n lists of texts, None for a missing one; or n texts",
            features=[
                datasets.Features({"predictions": text, "references": references})
                for references in (datasets.Sequence(text), text)
            ],
        )

    def compute(self, **given: Any) -> dict[str, Any]:
        """Score predictions against references; further arguments are aggregate, sources and layout."""
        made: dict[str, Any] = super().compute(**given)
        return made

    def _compute(
        self,
        predictions: Sequence[str | None],
        references: Sequence[Any],
        aggregate: str = "max",
        sources: Sequence[str | None] | None = None,
        layout: str | None = None,
    ) -> dict[str, Any]:
        """Score as refract_eval.score() does."""
        name = "chrf" if self.config_name == "default" else self.config_name
        of = setting(predictions, references, name, aggregate, sources, layout)
        return {"score": of.score, "segments": of.per_segment, "signature": of.signature}

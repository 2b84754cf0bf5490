"""Neural metrics in this process, by the code of Refract's model servers, which encodes each text once."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from typing import Any

from .errors import RefractError, UsageError


class NeuralMetric:
    """A neural metric with its weights, for the argument metrics of score(), compare() and Scorer.

    It is called with lists of hypotheses, references and, if needs_source is set, sources, and returns a score for
    each. signature names the version of the published program, the digest of the weights and the settings.
    """

    def __init__(self, kind: str, model: str | None, **options: Any) -> None:
        """Load the weights: of a folder, of an id at the Hugging Face hub, or, for None, the published ones."""
        protocol = _models("protocol")
        given = {"model": model, **options}
        for name, value in given.items():
            if "," in str(value):
                raise UsageError(f"{name} is {value!r}: it may have no comma")
        spec = ",".join(f"{name}={value}" for name, value in given.items() if value is not None)
        try:
            self._server = protocol.Server(protocol.resolve(f"{kind}:{spec}"))
        except protocol.Wrong as e:
            if isinstance(e.__cause__, ModuleNotFoundError):
                raise _lacking(e.__cause__.name) from e
            raise UsageError(str(e)) from e
        facts = json.loads(self._server.facts)
        self.name = kind
        self.signature: dict[str, str] = {"by": facts["version"] or "refract", **facts["signature"]}
        self.needs_source: bool = "source" in facts["needs"]
        self.needs_references: bool = "reference" in facts["needs"]
        self.lower_is_better: bool = facts["direction"] == "lower"

    def __call__(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
    ) -> list[float]:
        """Score each hypothesis against its reference."""
        import numpy as np

        n = len(hypotheses)
        texts = {"source": sources or [""] * n, "hypothesis": hypotheses, "reference": references}
        rows = np.repeat(np.arange(n)[:, None], 3, axis=1)  # equal texts are found there
        return [float(x) for x in self._server.scored(texts, rows)["score"]]

    def __repr__(self) -> str:
        """Name the metric and its settings."""
        return f"<{self.name}: {', '.join(f'{k} {v}' for k, v in self.signature.items())}>"


def _models(module: str) -> Any:
    try:
        return importlib.import_module(f"._models.{module}", __package__)
    except ModuleNotFoundError as e:
        if e.name and e.name.startswith("refract_eval"):
            raise RefractError("this package was installed without its neural metrics: install the wheel") from None
        raise _lacking(e.name) from e


def _lacking(package: str | None) -> RefractError:
    return RefractError(
        f"neural metrics need the Python package {package}: pip install refract-eval[neural], [comet] or [bleurt]"
    )


class Metrics:
    """The metrics: metrics() lists those of the program, and metrics.comet() and others make neural ones."""

    def __call__(self) -> list[dict[str, Any]]:
        """List the metrics of the program, like `refract metrics -f json`."""
        from .functions import _shared

        return list(_shared.call("metrics", {}))

    def comet(self, model: str | None = None, **options: Any) -> NeuralMetric:
        """Load COMET, with sources and references: Unbabel/wmt22-comet-da, or another regression model.

        Needs the package unbabel-comet. All neural metrics have the options device ("auto", "cpu", "cuda:0"),
        dtype ("float32", "float16", "bfloat16"), tokens (of a batch) and threads.
        """
        return NeuralMetric("comet", model, **options)

    def bertscore(self, model: str | None = None, **options: Any) -> NeuralMetric:
        """Load BERTScore (F): roberta-large, or another encoder with its layer=N; idf and baseline are files.

        Needs the packages torch and transformers.
        """
        return NeuralMetric("bertscore", model, **options)

    def bleurt(self, model: str | None = None, **options: Any) -> NeuralMetric:
        """Load BLEURT-20. Needs the package bleurt-pytorch."""
        return NeuralMetric("bleurt", model, **options)

    def metricx(self, model: str | None = None, **options: Any) -> NeuralMetric:
        """Load MetricX-24, of which lower scores are better; generation=23 for the older, qe="yes" without references.

        Needs the packages torch, transformers and sentencepiece.
        """
        return NeuralMetric("metricx", model, **options)


metrics: Metrics = Metrics()

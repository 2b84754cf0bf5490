"""xCOMET (Guerreiro et al., TACL 2024), as unbabel-comet 2.2.7 computes it: scores and error spans.

A pair goes through the encoder three times, as source and hypothesis, hypothesis and reference, and all three,
so no text can be encoded separately.
"""

from .cometkiwi import Unified
from .metric import Checkpoint


class Metric(Unified):
    checkpoint = Checkpoint("Unbabel/XCOMET-XL", "14 GB", ("hparams.yaml", "checkpoints/*.ckpt"))
    kinds = ("XCOMETMetric",)
    outputs = ("score", "error_spans")

    def pairs(self, triples):
        scores, errors = [0.0] * len(triples), [[]] * len(triples)
        for i, score, spans in self.predicted(triples, ("src", "mt", "ref")):
            hypothesis = triples[i][1]
            scores[i] = score
            # Offsets count code points; the tokenizer's text of a span may differ from the
            # hypothesis.
            errors[i] = [s | {"text": hypothesis[s["start"]:s["end"]]} for s in spans]
        return {"score": scores, "error_spans": errors}

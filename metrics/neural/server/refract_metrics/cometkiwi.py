"""COMETKiwi (Rei et al., WMT 2022) and UniTE (Wan et al., ACL 2022), as unbabel-comet 2.2.7.

All texts of a pair go through the encoder together, so every pair is encoded anew. A checkpoint trained without
references (CometKiwi) needs none.
"""

import torch

from .comet import Comet
from .metric import Checkpoint, by_length

SEGMENTS = {"src": 0, "mt": 1, "ref": 2}


class Unified(Comet):
    @torch.inference_mode()
    def predicted(self, triples, segments):
        """Predictions of rows, in batches of similar length: (index, score, spans)."""
        samples = [{s: t[SEGMENTS[s]] for s in segments} for t in triples]
        lengths = [sum(len(x) for x in s.values()) for s in samples]
        for batch in by_length(lengths, self.tokens):
            inputs = self.model.prepare_sample([samples[i] for i in batch], stage="predict")
            inputs = tuple({k: v.to(self.device) if torch.is_tensor(v) else v for k, v in i.items()} for i in inputs)
            out = self.model.predict_step(inputs)
            spans = out.metadata.error_spans if "metadata" in out and "error_spans" in out.metadata else [None] * len(batch)
            yield from zip(batch, out.scores.float().tolist(), spans)


class Metric(Unified):
    checkpoint = Checkpoint("Unbabel/wmt22-cometkiwi-da", "2.3 GB", ("hparams.yaml", "checkpoints/*.ckpt"))
    needs = ("source",)
    kinds = ("UnifiedMetric",)

    def pairs(self, triples):
        scores = [0.0] * len(triples)
        for i, score, _ in self.predicted(triples, ("src", "mt")):
            scores[i] = score
        return {"score": scores}

"""BLEURT (Sellam et al., ACL 2020; BLEURT-20: Pu et al., EMNLP 2021), by bleurt-pytorch 0.0.1."""

import torch
from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

from . import metric
from .metric import Checkpoint, by_length


class Metric(metric.Metric):
    version = "0.0.1"
    checkpoint = Checkpoint("lucadiliello/BLEURT-20", "2.3 GB")

    def __init__(self, folder, **common):
        super().__init__(folder, **common)
        self.model = self.load(BleurtForSequenceClassification)
        self.tokenizer = BleurtTokenizer.from_pretrained(folder)
        self.longest = min(512, self.model.config.max_position_embeddings)

    @torch.inference_mode()
    def pairs(self, triples):
        scores = [0.0] * len(triples)
        for batch in by_length([len(h) + len(r) for _, h, r in triples], self.tokens):
            inputs = self.tokenizer([triples[i][2] for i in batch], [triples[i][1] for i in batch],
                                    padding="longest", truncation=True, max_length=self.longest, return_tensors="pt")
            out = self.model(**{k: v.to(self.device) for k, v in inputs.items()}).logits.flatten().float().tolist()
            for i, score in zip(batch, out):
                scores[i] = score
        return {"score": scores}

"""MetricX-23 and MetricX-24 (Juraska et al., WMT 2023 and 2024): an mT5 whose one logit is the error.

Scores range from 0 (best) to 25.
"""

import torch
from transformers import AutoTokenizer, MT5ForConditionalGeneration

from . import metric
from .metric import Checkpoint, Wrong, by_length, padded

LONGEST = {23: 1024, 24: 1536}
LOGIT = 250089  # of <extra_id_10>


class Metric(metric.Metric):
    version = "fc4978e"  # the commit of the published program
    checkpoint = Checkpoint("google/metricx-24-hybrid-large-v2p6", "4.9 GB")
    direction, lower, upper = "lower", 0, 25
    options = {"generation": int, "qe": str, "tokenizer": str}

    @classmethod
    def reads(cls, options):
        generation, qe = options.get("generation", 24), options.get("qe", "no")
        if generation not in LONGEST or qe not in ("yes", "no"):
            raise Wrong(f"generation={generation},qe={qe}: generation is 23 or 24, qe yes or no")
        return ("source",) if qe == "yes" else ("reference",) if generation == 23 else ("source", "reference")

    def __init__(self, folder, generation=24, qe="no", tokenizer="google/mt5-xl", **common):
        """qe omits the reference. The checkpoints have no tokenizer."""
        super().__init__(folder, **common)
        self.generation, self.needs = generation, self.reads({"generation": generation, "qe": qe})
        self.model = self.load(MT5ForConditionalGeneration)
        self.tokenizer = AutoTokenizer.from_pretrained(tokenizer)
        self.state |= {"generation": generation, "qe": qe}

    def prompt(self, source, hypothesis, reference):
        parts = [f"candidate: {hypothesis}"]
        if "source" in self.needs:
            parts.insert(0 if self.generation == 24 else 1, f"source: {source}")
        if "reference" in self.needs:
            parts.append(f"reference: {reference}")
        return " ".join(parts)

    @torch.inference_mode()
    def pairs(self, triples):
        ids = self.tokenizer([self.prompt(*t) for t in triples], truncation=True, max_length=LONGEST[self.generation])
        ids = [i[:-1] for i in ids["input_ids"]] # without the end-of-sequence token, as published
        scores = [0.0] * len(triples)
        for batch in by_length([len(i) for i in ids], self.tokens):
            batch_ids, mask = padded(ids, batch, self.tokenizer.pad_token_id, self.device)
            start = torch.zeros((len(batch), 1), dtype=torch.long, device=self.device)
            logits = self.model(input_ids=batch_ids, attention_mask=mask, decoder_input_ids=start).logits
            for i, score in zip(batch, logits[:, 0, LOGIT].float().clamp(0, 25).tolist()):
                scores[i] = score
        return {"score": scores}

"""BARTScore (Yuan et al., NeurIPS 2021): the mean log-likelihood of a text given another one.

precision is the likelihood of the hypothesis given the reference, recall the likelihood of the reference given
the hypothesis, and score is their mean.
"""

import hashlib

import torch
from transformers import AutoTokenizer, BartForConditionalGeneration

from . import metric
from .metric import Checkpoint, Wrong, by_length

LONGEST = 1024


class Metric(metric.Metric):
    version = "40c658f"  # the commit of the published program
    checkpoint = Checkpoint("facebook/bart-large-cnn", "1.6 GB")
    outputs = ("score", "precision", "recall")
    options = {"finetuned": str}

    def __init__(self, folder, finetuned="", **common):
        """finetuned is the authors' bart.pth, trained further on ParaBank2."""
        super().__init__(folder, **common)
        self.model = self.load(BartForConditionalGeneration)
        self.state["finetuned"] = "no"
        if finetuned:
            try:
                with open(finetuned, "rb") as f:
                    self.state["finetuned"] = hashlib.file_digest(f, "sha256").hexdigest()[:12]
                self.model.load_state_dict(torch.load(finetuned, map_location=self.device, weights_only=True))
            except (OSError, RuntimeError) as e:
                raise Wrong(f"{finetuned} is not the weights of this model: {str(e).splitlines()[0]}") from e
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)

    def pairs(self, triples):
        precision = self.likelihood([(r, h) for _, h, r in triples])
        recall = self.likelihood([(h, r) for _, h, r in triples])
        return {"score": [(p + r) / 2 for p, r in zip(precision, recall)], "precision": precision, "recall": recall}

    @torch.inference_mode()
    def likelihood(self, pairs):
        scores = [0.0] * len(pairs)
        for batch in by_length([len(a) + len(b) for a, b in pairs], self.tokens):
            given, told = (self.tokenizer([pairs[i][side] for i in batch], max_length=LONGEST, truncation=True,
                                          padding=True, return_tensors="pt").to(self.device) for side in (0, 1))
            logits = self.model(input_ids=given["input_ids"], attention_mask=given["attention_mask"],
                                labels=told["input_ids"]).logits.float()
            # As published: padding is ignored by its id.
            loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), told["input_ids"], reduction="none",
                                                     ignore_index=self.model.config.pad_token_id)
            for i, score in zip(batch, (-loss.sum(1) / told["attention_mask"].sum(1)).tolist()):
                scores[i] = score
        return scores

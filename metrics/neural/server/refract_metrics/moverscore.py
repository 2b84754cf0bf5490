"""MoverScore (Zhao et al., EMNLP 2019), the published moverscore_v2 with unigrams of the last layer.

Each text is encoded once; for a pair, the minimum cost of moving the weights of one text's words to the other's
is computed. The score is 1 minus that cost.
"""

import string

import numpy as np
import ot
import torch
from transformers import AutoModel, AutoTokenizer

from . import metric
from .metric import Checkpoint, Wrong, by_length, padded, token_ids


class Metric(metric.Metric):
    version = "0c93804"  # the commit of the published program
    checkpoint = Checkpoint("distilbert/distilbert-base-uncased", "0.27 GB")
    upper = 1

    def __init__(self, folder, **common):
        super().__init__(folder, **common)
        self.model = self.load(AutoModel)
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        vocabulary = self.tokenizer.get_vocab()
        if not any(t.startswith("##") for t in vocabulary):
            raise Wrong(f"{folder} has no word pieces: MoverScore is served of encoders like BERT")
        # Later pieces of a word and punctuation have no weight. The special tokens at both
        # ends count as words.
        self.silent = {i for t, i in vocabulary.items() if "##" in t or t in string.punctuation}

    @torch.inference_mode()
    def encode(self, texts):
        ids, lengths = token_ids(self.tokenizer, texts, self.model.config.max_position_embeddings)
        out = [None] * len(texts)
        for batch in by_length(lengths, self.tokens):
            last = self.model(*padded(ids, batch, self.tokenizer.pad_token_id, self.device))[0].float()
            last = torch.nn.functional.normalize(last, dim=-1).cpu().numpy()
            for row, i in enumerate(batch):
                loud = [k for k, t in enumerate(ids[i]) if t not in self.silent]
                out[i] = last[row, loud].astype(np.float64)
        return out

    def score(self, encoded, rows):
        scores = []
        for _, h, r in rows:
            h, r = encoded[h], encoded[r]
            cost = np.sqrt(np.maximum(2 - 2 * r @ h.T, 1e-30))
            scores.append(1 - ot.emd2(np.full(len(r), 1 / len(r)), np.full(len(h), 1 / len(h)), cost))
        return {"score": scores}

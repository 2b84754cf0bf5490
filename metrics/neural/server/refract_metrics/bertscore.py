"""BERTScore (Zhang et al., ICLR 2020), as bert-score 0.3.13 computes it.

Each text is encoded once; a pair is a product of two matrices of token vectors.
"""

import csv
import hashlib
from collections import Counter
from dataclasses import dataclass
from math import log

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from . import metric
from .metric import Checkpoint, Wrong, by_length, padded, token_ids

# The layers that the authors chose on WMT16.
LAYERS = {"roberta-large": 17, "xlm-roberta-large": 17, "bert-base-multilingual-cased": 9, "bert-base-chinese": 8,
          "bert-base-uncased": 9, "roberta-base": 10, "xlm-roberta-base": 9, "deberta-xlarge-mnli": 40}


@dataclass
class Tokens:
    vectors: torch.Tensor  # [tokens, dim], of length 1
    weights: torch.Tensor  # [tokens]
    starts: torch.Tensor  # [texts]
    lengths: torch.Tensor  # [texts]


class Metric(metric.Metric):
    version = "0.3.13"
    checkpoint = Checkpoint("FacebookAI/roberta-large", "1.4 GB")
    outputs = ("score", "precision", "recall")  # score is F
    options = {"layer": int, "idf": str, "baseline": str}

    def __init__(self, folder, layer=0, idf="", baseline="", **common):
        """idf is a file of references, one a line; baseline a file of the package's rescale_baseline,
        LAYER,P,R,F."""
        super().__init__(folder, **common)
        model = self.load(AutoModel)
        layers = getattr(getattr(model, "encoder", None), "layer", None)
        if layers is None:
            raise Wrong(f"{folder} is a {model.config.model_type}: BERTScore is served of encoders like BERT, RoBERTa, DeBERTa")
        layer = layer or LAYERS.get(self.given.rstrip("/").rsplit("/", 1)[-1], 0)
        if not 0 < layer <= len(layers):
            raise Wrong(f"give layer=N from 1 to {len(layers)}: the authors chose none for {self.given}")
        model.encoder.layer = layers[:layer]
        self.model = model
        # Byte-level vocabularies recognise a word by the space before it.
        space = {"add_prefix_space": True} if model.config.model_type in ("roberta", "gpt2") else {}
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, **space)
        positions = getattr(model.config, "max_position_embeddings", 512)
        if model.config.model_type in ("roberta", "xlm-roberta"):
            positions -= 2
        self.longest = min(self.tokenizer.model_max_length, positions)
        self.idf, self.otherwise = {self.tokenizer.cls_token_id: 0.0, self.tokenizer.sep_token_id: 0.0}, 1.0
        self.base = None
        self.state |= {"layer": layer, "idf": "no", "baseline": "no"}
        if idf:
            self.count(idf)
        if baseline:
            self.rescale(baseline, layer)

    def count(self, path):
        references, self.state["idf"] = lines(path)
        seen, n = Counter(t for ids in self.ids(references)[0] for t in set(ids)), len(references)
        self.idf = {int(t): log((n + 1) / (c + 1)) for t, c in seen.items()}
        self.otherwise = log(n + 1)

    def rescale(self, path, layer):
        rows, self.state["baseline"] = lines(path)
        try:
            rows = {int(r["LAYER"]): r for r in csv.DictReader(rows)}
            self.base = {n: float(rows[layer][c]) for n, c in zip(("precision", "recall", "score"), "PRF")}
        except (KeyError, ValueError) as e:
            raise Wrong(f"{path} has no line for layer {layer} with LAYER,P,R,F: {e}") from e

    def ids(self, texts):
        return token_ids(self.tokenizer, [t.strip() for t in texts], self.longest)

    @torch.inference_mode()
    def encode(self, texts):
        ids, lengths = self.ids(texts)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        weights = torch.tensor([self.idf.get(t, self.otherwise) for i in ids for t in i], device=self.device)
        vectors = torch.empty(int(lengths.sum()), self.model.config.hidden_size, device=self.device)
        for batch in by_length(lengths, self.tokens):
            padded_ids, mask = padded(ids, batch, self.tokenizer.pad_token_id, self.device)
            out, mask = self.model(input_ids=padded_ids, attention_mask=mask)[0], mask.bool()
            place = torch.from_numpy(starts[batch, None] + np.arange(mask.shape[1])).to(self.device)
            vectors[place[mask]] = torch.nn.functional.normalize(out[mask].float(), dim=-1)
        here = lambda a: torch.from_numpy(a).to(self.device)
        return Tokens(vectors, weights, here(starts), here(lengths))

    @torch.inference_mode()
    def score(self, encoded, rows):
        lengths = encoded.lengths.cpu().numpy()
        outputs = {n: np.zeros(len(rows), np.float32) for n in self.outputs}
        for batch in by_length(lengths[rows[:, 1:]].max(1), self.tokens):
            h, hm, hw = gathered(encoded, rows[batch, 1])
            r, rm, rw = gathered(encoded, rows[batch, 2])
            similar = h @ r.transpose(1, 2)
            p = (similar.masked_fill(~rm[:, None, :], -2).amax(2) * hw).sum(1) / hw.sum(1)
            q = (similar.masked_fill(~hm[:, :, None], -2).amax(1) * rw).sum(1) / rw.sum(1)
            # A text with no tokens but the two special ones scores 0, as in the package.
            empty = (hm.sum(1) <= 2) | (rm.sum(1) <= 2)
            f = (2 * p * q / (p + q)).masked_fill(empty, 0).nan_to_num(0)
            for n, v in zip(("precision", "recall", "score"), (p.masked_fill(empty, 0), q.masked_fill(empty, 0), f)):
                outputs[n][batch] = v.nan_to_num(0).cpu().numpy()
        if self.base:
            outputs = {n: (v - self.base[n]) / (1 - self.base[n]) for n, v in outputs.items()}
        return outputs


def gathered(encoded, texts):
    """Vectors, mask and weights of some texts, padded to the longest of them."""
    texts = torch.from_numpy(np.ascontiguousarray(texts)).to(encoded.starts.device)
    lengths = encoded.lengths[texts]
    at = torch.arange(int(lengths.max()), device=texts.device)
    mask = at < lengths[:, None]
    place = (encoded.starts[texts][:, None] + at).masked_fill(~mask, 0)
    return encoded.vectors[place], mask, encoded.weights[place] * mask


def lines(path):
    """The lines of a file, and twelve hex digits of its SHA-256."""
    try:
        with open(path, "rb") as f:
            data = f.read()
        return data.decode().split("\n")[: None if data[-1:] != b"\n" else -1], hashlib.sha256(data).hexdigest()[:12]
    except (OSError, UnicodeDecodeError) as e:
        raise Wrong(f"{path} cannot be read: {e}") from e

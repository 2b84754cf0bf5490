"""COMET (Rei et al., EMNLP 2020; COMET-22, WMT 2022), as unbabel-comet 2.2.7 computes it.

Source, hypothesis and reference are encoded separately, so each text is encoded once; a pair needs only the
small estimator.
"""

import glob
import os

import numpy as np
import torch
from comet import load_from_checkpoint

from . import metric
from .metric import Checkpoint, Wrong, by_length, padded, token_ids


class Comet(metric.Metric):
    """What all checkpoints of unbabel-comet share."""

    version = "2.2.7"
    needs = ("source", "reference")
    kinds = ()  # the classes of checkpoints that the metric can serve

    def __init__(self, folder, **common):
        super().__init__(folder, **common)
        path, = sorted(glob.glob(folder + "/checkpoints/*.ckpt"))[:1]
        self.model = load_from_checkpoint(path, local_files_only=bool(os.environ.get("HF_HUB_OFFLINE")))
        if type(self.model).__name__ not in self.kinds:
            raise Wrong(f"{folder} is a {type(self.model).__name__}: this metric serves {' and '.join(self.kinds)}")
        stored = torch.load(path, map_location="cpu", mmap=True, weights_only=False)["state_dict"]
        lost = [k for k in self.model.state_dict() if k not in stored and not k.endswith("position_ids")]
        if lost:
            raise Wrong(f"{path} lacks {len(lost)} weights, the first is {lost[0]}")
        self.model.eval().to(self.device, self.dtype)


class Metric(Comet):
    checkpoint = Checkpoint("Unbabel/wmt22-comet-da", "2.3 GB", ("hparams.yaml", "checkpoints/*.ckpt"))
    kinds = ("RegressionMetric",)

    @torch.inference_mode()
    def encode(self, texts):
        encoder = self.model.encoder
        ids, lengths = token_ids(encoder.tokenizer, texts, encoder.max_positions - 2)
        out = None
        for batch in by_length(lengths, self.tokens):
            vectors = self.model.get_sentence_embedding(*padded(ids, batch, encoder.tokenizer.pad_token_id, self.device))
            if out is None:
                out = vectors.new_empty(len(texts), vectors.shape[1])
            out[torch.from_numpy(batch).to(self.device)] = vectors
        return out

    @torch.inference_mode()
    def score(self, encoded, rows):
        scores = []
        for part in np.array_split(rows, len(rows) // 4096 + 1):
            source, hypothesis, reference = (encoded[torch.from_numpy(part[:, c].copy()).to(self.device)] for c in range(3))
            scores.append(self.model.estimate(source, hypothesis, reference).score.float().cpu().numpy())
        return {"score": np.concatenate(scores)}

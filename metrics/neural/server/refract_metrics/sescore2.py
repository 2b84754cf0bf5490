"""SEScore2 (Xu et al., ACL 2023): one encoder, means of its last layer, and a small estimator.

Its checkpoints are pickles of a whole program. Only their tensors are read; no code in them runs.
"""

import glob
import pickle
import types

import numpy as np
import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer

from . import metric
from .metric import Checkpoint, Wrong, by_length, padded, token_ids

LONGEST = 256


class Metric(metric.Metric):
    version = "48a4526"  # the commit of the published program
    checkpoint = Checkpoint("xu1998hz/sescore2_en_pretrained", "2.3 GB", ("*.ckpt",))
    options = {"encoder": str}

    def __init__(self, folder, encoder="xlm-roberta-large", **common):
        """encoder names the configuration and tokenizer; for other languages it is google/rembert."""
        super().__init__(folder, **common)
        path = sorted(glob.glob(folder + "/*.ckpt"))[0]
        weights = tensors(torch.load(path, map_location="cpu", weights_only=False, pickle_module=CAREFUL))
        linear = sorted({int(k.split(".")[2]) for k in weights if k.startswith("estimator.ff.")})
        if not linear or not any(k.startswith("xlm.") for k in weights):
            raise Wrong(f"{path} is not a checkpoint of SEScore2: it has {', '.join(list(weights)[:3]) or 'no weights'}")
        self.encoder = AutoModel.from_config(AutoConfig.from_pretrained(encoder))
        own = {k[4:]: v for k, v in weights.items() if k.startswith("xlm.")}
        lost = [k for k in self.encoder.load_state_dict(own, strict=False).missing_keys if "pooler" not in k]
        if lost:
            raise Wrong(f"{path} is not of the encoder {encoder}: it lacks {lost[0]}")
        self.estimator = [(weights[f"estimator.ff.{i}.weight"].to(self.device, self.dtype),
                           weights[f"estimator.ff.{i}.bias"].to(self.device, self.dtype)) for i in linear]
        self.encoder.eval().to(self.device, self.dtype)
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)

    @torch.inference_mode()
    def encode(self, texts):
        ids, lengths = token_ids(self.tokenizer, texts, LONGEST)
        out = torch.empty(len(texts), self.encoder.config.hidden_size, device=self.device, dtype=self.dtype)
        for batch in by_length(lengths, self.tokens):
            batch_ids, mask = padded(ids, batch, self.tokenizer.pad_token_id, self.device)
            last = self.encoder(input_ids=batch_ids, attention_mask=mask)[0]
            mask = mask.unsqueeze(-1).to(last.dtype)
            out[torch.from_numpy(batch).to(self.device)] = (last * mask).sum(1) / mask.sum(1)
        return out

    @torch.inference_mode()
    def score(self, encoded, rows):
        scores = []
        for part in np.array_split(rows, len(rows) // 4096 + 1):
            h, r = (encoded[torch.from_numpy(part[:, c].copy()).to(self.device)] for c in (1, 2))
            x = torch.cat((h, r, h * r, (h - r).abs()), 1)
            for i, (weight, bias) in enumerate(self.estimator):
                x = torch.nn.functional.linear(x.tanh() if i else x, weight, bias)
            scores.append(x[:, 0].float().cpu().numpy())
        return {"score": np.concatenate(scores)}


class Husk:
    """Replaces an object of any class in a pickle, and keeps its fields."""

    def __new__(cls, *_, **__):
        return object.__new__(cls)

    def __init__(self, *_, **__):
        pass

    def __setstate__(self, state):
        if isinstance(state, dict):
            self.__dict__.update(state)


class Unpickler(pickle.Unpickler):
    ALLOWED = {("collections", "OrderedDict"), ("torch._utils", "_rebuild_tensor_v2"),
               ("torch._utils", "_rebuild_parameter"), ("builtins", "set"), ("torch", "device"), ("torch", "Size")}

    def find_class(self, module, name):
        return super().find_class(module, name) if (module, name) in self.ALLOWED else Husk


CAREFUL = types.SimpleNamespace(Unpickler=Unpickler, load=lambda f, **_: Unpickler(f).load(), __name__="careful")


def tensors(found, prefix=""):
    """The tensors of a pickled module, or of a dict of them, by name."""
    if isinstance(found, dict):
        return {k: v for k, v in found.get("state_dict", found).items() if torch.is_tensor(v)}
    fields, out = vars(found), {}
    for group in ("_parameters", "_buffers"):
        out |= {prefix + k: v.detach() for k, v in (fields.get(group) or {}).items() if torch.is_tensor(v)}
    for name, module in (fields.get("_modules") or {}).items():
        out |= tensors(module, f"{prefix}{name}.") if isinstance(module, Husk) else {}
    return out

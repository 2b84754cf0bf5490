"""What a metric states and does, and what most of them share: weights and batches."""

import functools
import glob
import hashlib
import os
from dataclasses import dataclass

import numpy as np


class Wrong(Exception):
    """A setting or checkpoint that cannot be served. The message says what to do."""


@dataclass(frozen=True)
class Checkpoint:
    """Where weights come from: the default id at the Hugging Face hub, the size, the files."""

    hub: str
    size: str
    files: tuple = ("config.json", "*.safetensors|pytorch_model*.bin")


class Metric:
    """A metric with its weights. It has encode and score, or pairs.

    encode(texts) takes distinct texts and returns what score reads.
    score(encoded, rows) takes int64 [n, 3]: source, hypothesis, reference as indexes into
    the texts, −1 where the metric does not need one.
    pairs(triples) takes (source, hypothesis, reference) as texts or None.
    Both return a dict of outputs with one value a row.
    """

    version = ""  # of the published program whose numbers it gives
    checkpoint = None
    needs = ("reference",) # besides the hypothesis, unless an option changes it
    outputs = ("score",)
    direction, lower, upper = "higher", None, None
    options = {}  # name → type, in addition to every metric's

    def __init__(self, folder, given="", device="auto", dtype="float32", tokens=16384, threads=0):
        """given is the user's name for the folder; device is auto, cpu or cuda:N; tokens bounds a batch,
        including padding."""
        import torch

        if threads:
            torch.set_num_threads(threads)
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if dtype not in ("float32", "float16", "bfloat16"):
            raise Wrong(f"dtype={dtype}: it is float32, float16 or bfloat16")
        self.folder, self.given = folder, given or folder
        self.device, self.tokens = torch.device(device), tokens
        self.dtype = getattr(torch, dtype)
        if self.device.type == "cuda":
            # cuDNN's attention plans for each length of a batch, which costs more than it
            # saves.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self.state = {"weights": digest(folder, self.checkpoint), "dtype": dtype}

    @classmethod
    def reads(cls, options):
        """What the metric needs besides the hypothesis, with these options."""
        return cls.needs

    def signature(self):
        """All that changes the numbers, by name."""
        return self.state

    def load(self, kind, **settings):
        """Loads a transformers model of the checkpoint. A weight missing from the files is an error."""
        model, report = kind.from_pretrained(
            self.folder, output_loading_info=True, local_files_only=True, dtype=self.dtype, **settings)
        lost = [k for k in report["missing_keys"] if "pooler" not in k] + [k[0] for k in report["mismatched_keys"]]
        if lost:
            raise Wrong(f"{self.folder} lacks {len(lost)} weights of a {kind.__name__} "
                        f"(the first is {sorted(lost)[0]}): it is another kind of checkpoint")
        return model.eval().to(self.device)


COMMON = {"device": str, "dtype": str, "tokens": int, "threads": int}


def find(checkpoint, given):
    """The folder of a checkpoint: a path, or an id at the hub, downloaded if not cached."""
    folder = given or checkpoint.hub
    hint = f"the weights take {checkpoint.size}; give model=FOLDER, or fetch them: hf download {checkpoint.hub}"
    if not os.path.isdir(folder):
        if os.path.isabs(folder) or folder.startswith(".") or folder.count("/") > 1:
            raise Wrong(f"there is no folder {folder}: {hint}")
        from huggingface_hub import snapshot_download

        wanted = ["*.json", "*.txt", "*.model", "*.yaml"] + [p for names in checkpoint.files for p in names.split("|")]
        hub = functools.partial(snapshot_download, folder, allow_patterns=wanted)
        try:
            folder = hub(ignore_patterns="*.bin")
            if not glob.glob(folder + "/*.safetensors"):
                folder = hub() # an older repository
        except Exception as e: # from requests, httpx or the hub
            reason = (str(e).strip() or type(e).__name__).splitlines()[0]
            raise Wrong(f"{folder} cannot be downloaded from the Hugging Face hub ({reason}): {hint}") from e
    for names in checkpoint.files:
        if not any(glob.glob(os.path.join(folder, p)) for p in names.split("|")):
            raise Wrong(f"{folder} has no {names.replace('|', ' or ')}: {hint}")
    return os.path.abspath(folder)


def digest(folder, checkpoint):
    """Twelve hex digits of the SHA-256 of the weights: of the file, or of the files' digests."""
    found = (sorted(glob.glob(os.path.join(folder, p))) for p in checkpoint.files[-1].split("|"))
    paths, digests = next(filter(None, found)), []
    for path in paths:
        with open(path, "rb") as f:
            digests.append(hashlib.file_digest(f, "sha256").hexdigest())
    return (digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest())[:12]


def token_ids(tokenizer, texts, longest):
    """Ids of texts with their special tokens, cut at longest, and their numbers."""
    ids = tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
    return ids, np.array([len(i) for i in ids])


def padded(ids, batch, pad, device):
    """Ids and mask [batch, longest] of some texts, the longest first."""
    import torch

    width = len(ids[batch[0]])
    out, mask = np.full((len(batch), width), pad), np.zeros((len(batch), width), np.int64)
    for row, i in enumerate(batch):
        out[row, :len(ids[i])], mask[row, :len(ids[i])] = ids[i], 1
    return torch.from_numpy(out).to(device), torch.from_numpy(mask).to(device)


def by_length(lengths, tokens):
    """Yields indexes, longest first, in batches of at most this many tokens including padding."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    while len(order):
        size = max(1, tokens // max(1, int(lengths[order[0]])))
        yield order[:size]
        order = order[size:]

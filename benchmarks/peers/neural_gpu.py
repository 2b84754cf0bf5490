"""Measures what encoding each text once saves, on eleven references of WMT22, without a server.

usage: neural_gpu.py SERVER_FOLDER DATA FOLDER [--size large|tiny] [--segments N] [--systems N]

The encoders have the shape of roberta-large and xlm-roberta-large, and random weights: speed does not
depend on them. "once" is the code that is served; "pair by pair" is the same with the texts of
each row encoded for it. Both run in turns in one process.
"""

import argparse
import ast
import glob
import os
import subprocess
import sys
import time

import numpy as np
import torch
import transformers as t

SHAPES = {
    "large": dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096),
    "tiny": dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128),
}


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().rstrip("\n").split("\n")


def encoder(folder, words, shape):
    """A checkpoint of random weights with the vocabulary of the texts."""
    tokenizer = t.BertTokenizerFast.from_pretrained(words)
    tokenizer.save_pretrained(folder)
    t.RobertaModel(t.RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=514, type_vocab_size=1, **shape)
                   ).save_pretrained(folder)


def utilisation():
    """The GPU's share of time with a kernel, as its driver says, or nothing."""
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"],
                             capture_output=True, text=True, check=True).stdout
        return float(out.split()[0])
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        return None


class Timed:
    """Counts the seconds in a model's forward pass, until the device is done."""

    def __init__(self, model):
        self.seconds, self.forward = 0.0, model.forward
        model.forward = self

    def __call__(self, *args, **kwargs):
        begun = time.perf_counter()
        out = self.forward(*args, **kwargs)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.seconds += time.perf_counter() - begun
        return out


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("server"), parser.add_argument("data"), parser.add_argument("folder")
    parser.add_argument("--size", choices=SHAPES, default="large")
    parser.add_argument("--segments", type=int, default=200)
    parser.add_argument("--systems", type=int, default=14)
    parser.add_argument("--words", required=True, help="a folder with a vocab.txt")
    args = parser.parse_args()
    sys.path.insert(0, args.server)
    from refract_metrics.bertscore import Metric

    wmt = args.data + "/mt-metrics-eval-v2/wmt22/"
    n = args.segments
    references = [[r] + ast.literal_eval(v) for r, v in zip(
        lines(wmt + "references/zh-en.refA.txt")[:n], lines(args.data + "/div-ref/wmt22.zh-en.refA.diversified"))]
    outputs = sorted(glob.glob(wmt + "system-outputs/zh-en/*.txt"))
    systems = [lines(f)[:n] for f in outputs if not os.path.basename(f).startswith("ref")][:args.systems]

    encoder(args.folder, args.words, SHAPES[args.size])
    layers = SHAPES[args.size]["num_hidden_layers"]
    metric = Metric(args.folder, layer=max(1, layers * 17 // 24))
    inner = Timed(metric.model)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, " + str(torch.get_num_threads()) + " threads"
    print(f"{args.size} ({layers} layers), {n} segments, {len(systems)} systems, {len(references[0])} references, on {device}")

    def rows(k):
        texts = list(dict.fromkeys([s[k] for s in systems] + references[k]))
        at = {x: i for i, x in enumerate(texts)}
        return texts, np.array([[-1, at[s[k]], at[r]] for s in systems for r in references[k]])

    group = 16  # segments of a request

    def once(k):
        texts, pairs = [], []
        for i in range(k, min(k + group, n)):
            own, p = rows(i)
            pairs.append(np.where(p < 0, -1, p + len(texts)))
            texts += own
        return metric.score(metric.encode(texts), np.concatenate(pairs))["score"], len(texts)

    def naive(k):
        scores, texts = [], 0
        for i in range(k, min(k + group, n)):
            own, p = rows(i)
            each = [own[x] for row in p for x in row[1:]]
            at = np.arange(len(each)).reshape(-1, 2)
            scores.append(metric.score(metric.encode(each), np.column_stack([-np.ones(len(p), int), at]))["score"])
            texts += len(each)
        return np.concatenate(scores), texts

    once(0), naive(0)  # the first use of a device takes longer
    seconds, model, encoded, used, worst = {}, {}, {}, {}, 0.0
    for k in range(0, n, group):
        got = {}
        for name, way in (("once", once), ("pair by pair", naive)):
            inner.seconds, begun = 0.0, time.perf_counter()
            got[name], texts = way(k)
            seconds[name] = seconds.get(name, 0) + time.perf_counter() - begun
            model[name] = model.get(name, 0) + inner.seconds
            encoded[name] = encoded.get(name, 0) + texts
            used.setdefault(name, []).append(utilisation())
        worst = max(worst, float(np.abs(got["once"] - got["pair by pair"]).max()))
    for name in seconds:
        seen = [u for u in used[name] if u is not None]
        print(f"{name}: {seconds[name]:.2f} s, {encoded[name]} texts encoded, "
              f"{n * len(systems) * len(references[0]) / seconds[name]:.0f} pairs/s, "
              f"{100 * (1 - model[name] / seconds[name]):.0f} % of the time outside the model, "
              f"GPU {'%.0f %%' % np.mean(seen) if seen else 'not measured'}")
    print(f"ratio {seconds['pair by pair'] / seconds['once']:.1f}, the largest difference {worst:.1e}")
    assert worst < (1e-5 if args.size == "tiny" else 1e-4), worst


if __name__ == "__main__":
    main()

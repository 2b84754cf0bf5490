"""Measures what encoding each text once saves, on eleven references of WMT22, without a server.

usage: neural_gpu.py SERVER_FOLDER DATA FOLDER --words FOLDER [--size large|tiny] [--segments N] [--systems N]

BERTScore has an encoder of the shape of roberta-large, COMET one of xlm-roberta-large with the mix of all
layers and the estimator of COMET-22. The weights are random: speed does not depend on them. Both take MiniLM's
vocabulary, which cuts Chinese sources into more tokens than XLM-R's does. "once" is the served code; "pair by
pair" encodes the texts anew for each row. The bound is the ratio of the numbers of encoded texts. Both run
alternately in one process. The driver's utilisation of a GPU covers up to a second before its sample.
"""

import argparse
import ast
import glob
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
import types

import numpy as np
import torch
import transformers as t

SHAPES = {
    "large": dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096),
    "tiny": dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128),
}
GROUP = 16  # segments of a request
TURNS = 4


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().rstrip("\n").split("\n")


def encoder(folder, words, shape):
    """A checkpoint of random weights with the vocabulary of the texts."""
    tokenizer = t.BertTokenizerFast.from_pretrained(words)
    tokenizer.save_pretrained(folder)
    t.RobertaModel(t.RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=514, type_vocab_size=1, **shape)
                   ).save_pretrained(folder)


class RegressionMetric(torch.nn.Module):
    """What the server calls of unbabel-comet's class, so that the package is not needed.

    The weights of the mix are a softmax, while COMET-22 uses a sparsemax of the same 25 numbers.
    """

    def __init__(self, folder):
        super().__init__()
        self.encoder = t.RobertaModel.from_pretrained(folder)
        self.encoder.tokenizer = t.AutoTokenizer.from_pretrained(folder)
        config = self.encoder.config
        self.encoder.max_positions = config.max_position_embeddings - 2
        self.mix = torch.nn.Parameter(torch.randn(config.num_hidden_layers + 1))
        linear, tanh = torch.nn.Linear, torch.nn.Tanh
        self.estimator = torch.nn.Sequential(
            linear(6 * config.hidden_size, 3072), tanh(), linear(3072, 1024), tanh(), linear(1024, 1))

    def get_sentence_embedding(self, ids, mask):
        layers = self.encoder(ids, mask, output_hidden_states=True).hidden_states
        mixed = sum(w * x for w, x in zip(self.mix.softmax(0), layers))
        mask = mask.unsqueeze(-1)
        return mixed.masked_fill(mask == 0, 0).sum(1) / mask.sum(1)

    def estimate(self, s, h, r):
        score = self.estimator(torch.cat((h, r, h * r, (h - r).abs(), h * s, (h - s).abs()), 1)).view(-1)
        return types.SimpleNamespace(score=score)


def comet(folder):
    """The served COMET with random weights."""
    torch.manual_seed(7)
    model = RegressionMetric(folder)
    os.makedirs(folder + "/checkpoints")
    torch.save({"state_dict": model.state_dict()}, folder + "/checkpoints/random.ckpt")
    sys.modules["comet"] = types.SimpleNamespace(load_from_checkpoint=lambda path, **_: model)
    from refract_metrics.comet import Metric

    return Metric(folder)


def settled():
    """The time when the device has done what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


class Timed:
    """Counts the seconds in functions of a model."""

    def __init__(self, model, names):
        self.seconds = 0.0
        for name in names:
            setattr(model, name, self.timed(getattr(model, name)))

    def timed(self, function):
        def call(*args, **kwargs):
            begun = settled()
            out = function(*args, **kwargs)
            self.seconds += settled() - begun
            return out
        return call


class Utilisation:
    """Samples the driver's figure for the share of time in which the GPU ran a kernel; no samples without a
    driver."""

    def __init__(self):
        self.samples = []  # (time, percent)
        if shutil.which("nvidia-smi"):
            threading.Thread(target=self.sample, daemon=True).start()

    def sample(self):
        gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
        ask = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--id=" + gpu]
        while True:
            out = subprocess.run(ask, capture_output=True, text=True).stdout.strip()
            if out.isdigit():
                self.samples.append((time.perf_counter(), int(out)))
            time.sleep(0.1)

    def during(self, spans):
        seen = [p for at, p in self.samples if any(begun <= at < ended for begun, ended in spans)]
        return f"{np.mean(seen):.0f} % ({len(seen)} samples)" if seen else "not measured"


def once(triples):
    """The distinct texts of triples, and their rows."""
    texts = list(dict.fromkeys(x for row in triples for x in row if x is not None))
    at = {x: i for i, x in enumerate(texts)}
    return texts, [[at.get(x, -1) for x in row] for row in triples]


def naive(triples):
    """All texts of triples, and their rows."""
    number = itertools.count()
    return ([x for row in triples for x in row if x is not None],
            [[-1 if x is None else next(number) for x in row] for row in triples])


def measure(name, metric, functions, goal, segments, gpu):
    """Prints both ways of a metric on the triples of segments. functions are those of its model."""
    inner, ways = Timed(metric.model, functions), {"once": once, "pair by pair": naive}
    pairs = sum(map(len, segments))

    def run(way, some):
        """Scores, texts encoded, seconds in the model, begin and end."""
        inner.seconds, begun, scores, encoded = 0.0, settled(), [], 0
        for k in range(0, len(some), GROUP):
            texts, rows = way([row for segment in some[k:k + GROUP] for row in segment])
            scores.append(metric.score(metric.encode(texts), np.array(rows))["score"])
            encoded += len(texts)
        return np.concatenate(scores), encoded, inner.seconds, (begun, settled())

    for way in ways.values():
        run(way, segments[:1])  # the first use of a device takes longer
    turn = GROUP * -(-len(segments) // (GROUP * TURNS))  # segments
    runs = {way: [] for way in ways}
    for k in range(0, len(segments), turn):
        for way in ways:
            runs[way].append(run(ways[way], segments[k:k + turn]))
    scores, texts, seconds, outside = {}, {}, {}, {}
    for way in ways:
        parts, encoded, inside, spans = zip(*runs[way])
        scores[way], texts[way] = np.concatenate(parts), sum(encoded)
        seconds[way] = sum(ended - begun for begun, ended in spans)
        outside[way] = 100 * (1 - sum(inside) / seconds[way])
        print(f"{name}, {way}: {texts[way]} texts encoded, {seconds[way]:.2f} s, {pairs / seconds[way]:.0f} pairs/s, "
              f"{outside[way]:.0f} % of the time outside the model, GPU {gpu.during(spans)}")
    a, b = scores.values()
    worst, spread = np.abs(a - b).max(), a.std()
    print(f"{name}: ratio {seconds['pair by pair'] / seconds['once']:.1f} (goal {goal}, "
          f"bound {texts['pair by pair'] / texts['once']:.1f}), once {outside['once']:.0f} % outside (goal < 10 %); "
          f"the ways differ by {worst:.1e}, scores spread by {spread:.1e}", flush=True)
    assert worst < spread / 100, f"{name}: once and pair by pair disagree"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("server"), parser.add_argument("data"), parser.add_argument("folder")
    parser.add_argument("--size", choices=SHAPES, default="large")
    parser.add_argument("--segments", type=int, default=200)
    parser.add_argument("--systems", type=int, default=14)
    parser.add_argument("--words", required=True, help="a folder with a vocab.txt")
    args = parser.parse_args()
    sys.path.insert(0, args.server)
    from refract_metrics import bertscore

    wmt = args.data + "/mt-metrics-eval-v2/wmt22/"
    n = args.segments
    sources = lines(wmt + "sources/zh-en.txt")[:n]
    references = [[r] + ast.literal_eval(v) for r, v in zip(
        lines(wmt + "references/zh-en.refA.txt")[:n], lines(args.data + "/div-ref/wmt22.zh-en.refA.diversified"))]
    outputs = sorted(glob.glob(wmt + "system-outputs/zh-en/*.txt"))
    systems = [lines(f)[:n] for f in outputs if not os.path.basename(f).startswith("ref")][:args.systems]

    encoder(args.folder, args.words, SHAPES[args.size])
    layers = SHAPES[args.size]["num_hidden_layers"]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads"
    print(f"{args.size} ({layers} layers), {len(sources)} segments, {len(systems)} systems, {len(references[0])} references, "
          f"on {device}")
    gpu = Utilisation()
    for name, make, functions, goal in (
            ("BERTScore", lambda: bertscore.Metric(args.folder, layer=max(1, layers * 17 // 24)), ["forward"], 10),
            ("COMET", lambda: comet(args.folder), ["get_sentence_embedding", "estimate"], 15)):
        metric = make()
        needed = lambda source: source if "source" in metric.needs else None
        segments = [[(needed(sources[k]), s[k], r) for s in systems for r in references[k]] for k in range(len(sources))]
        measure(name, metric, functions, goal, segments, gpu)


if __name__ == "__main__":
    main()

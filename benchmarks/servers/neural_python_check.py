"""Scores with COMET, BERTScore, BLEURT and MetricX inside Python, and compares with the official programs.

usage: neural_python_check.py TINY MINILM DATA

REFRACT_PROGRAM names the program. COMET, BLEURT and MetricX have random weights, which show nothing about the
published ones.
"""

import json
import sys

from comet import load_from_checkpoint

import refract_eval
from oip import close
from refract_eval import metrics


def main():
    tiny, minilm, data = sys.argv[1:]
    with open(data + "/neural/comet_tiny.json", encoding="utf-8") as f:
        pairs = json.load(f)["pairs"]
    hypotheses, sources = [p["mt"] for p in pairs], [p["src"] for p in pairs]
    references = [[p["ref"], pairs[i - 1]["ref"]] for i, p in enumerate(pairs)]
    flat = [(s, h, r) for s, h, both in zip(sources, hypotheses, references) for r in both]

    def compare(metric, official, tolerance=1e-5):
        asked = []
        def counted(h, r, sources=None):
            asked.extend(zip(sources or h, h, r))
            return metric(h, r, sources)
        for name in ("name", "signature", "needs_source", "lower_is_better"):
            setattr(counted, name, getattr(metric, name))
        scores = refract_eval.score(hypotheses, references, counted, "max", sources=sources, cells=True)
        got = [x for row in scores.cells[0].scores["system"] for x in row]
        close(f"{metric.name} in Python", got, official, tolerance)
        assert scores[metric.name].per_segment == [max(pair) for pair in zip(got[::2], got[1::2])]
        assert len(asked) == len(set(asked)), "a pair was asked for twice"
        assert f"weights:{metric.signature['weights']}" in scores[metric.name].signature

    comet = load_from_checkpoint(tiny + "/comet/checkpoints/model.ckpt", local_files_only=True)
    rows = [{"src": s, "mt": h, "ref": r} for s, h, r in flat]
    compare(metrics.comet(tiny + "/comet", threads=2),
            comet.predict(rows, batch_size=8, gpus=0, num_workers=0, progress_bar=False).scores)
    with open(data + "/neural/bertscore_minilm.json", encoding="utf-8") as f:
        pairs = json.load(f)["pairs"]
    scores = refract_eval.score([p["hyp"] for p in pairs], [p["ref"] for p in pairs], metrics.bertscore(minilm, layer=6, threads=2))
    close("bertscore in Python", scores.per_segment, [p["F"] for p in pairs])
    for metric in (metrics.bleurt(tiny + "/bleurt"), metrics.metricx(tiny + "/metricx", tokenizer=tiny + "/metricx")):
        compare(metric, [metric([h], [r], [s])[0] for s, h, r in flat])
    assert metric.lower_is_better and refract_eval.score(["a"], ["b"], metric, sources=["c"])["metricx"].direction == "lower"


if __name__ == "__main__":
    main()

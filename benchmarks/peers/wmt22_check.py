#!/usr/bin/env python3
"""Compares `refract compare` on real data with sacreBLEU and SciPy.

usage: wmt22_check.py REFRACT DATA [--every N]

1. Stored metrics under every statistic and grouping, against SciPy by the
   rules of mt-metrics-eval, within 1e-9; all of them up to N = 25.
2. Every cell of the matrix segment × system × reference against sacreBLEU
   (of every N-th segment, and TER of every 10 N-th), within 1e-9, BLEU, chrF and TER.
"""
import argparse
import ast
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

from sacrebleu.metrics import BLEU, CHRF, TER

HUMANS = ("refA", "refB")


def constant(v):
    return all(x == v[0] for x in v)


def correlation(name, gold, metric):
    if len(gold) < 2:
        return None
    if name != "kendall" and (constant(gold) or constant(metric)):
        return math.nan
    f = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}[name]
    return float(f(gold, metric)[0])


def grouped(name, rows):
    """Mean over rows of (gold, metric) pairs, without undefined rows."""
    values = [correlation(name, *zip(*r)) for r in rows if len(r) > 1]
    values = [v for v in values if v is not None and not math.isnan(v)]
    return sum(values) / len(values) if values else math.nan


def accuracy(gold, metric):
    n = len(gold)
    agree = sum(
        np.sign(gold[i] - gold[j]) == np.sign(metric[i] - metric[j]) for i in range(n) for j in range(i + 1, n)
    )
    return agree / (n * (n - 1) / 2)


def read_scores(path):
    out = {}
    for line in open(path, encoding="utf-8"):
        system, score = line.split()
        out.setdefault(system, []).append(None if score == "None" else float(score))
    return out


def refract(program, *args):
    return json.loads(subprocess.run([program, *args, "-f", "json"], check=True, capture_output=True, text=True).stdout)


def check_stored(program, data, every):
    base = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    mqm = read_scores(os.path.join(base, "human-scores", "zh-en.mqm.seg.score"))
    systems = [s for s in mqm if s not in HUMANS and any(v is not None for v in mqm[s])]
    worst, n = 0.0, 0
    for group in ("none", "segment", "system"):
        rows = refract(program, "compare", f"mtme:{base}/zh-en", "-m", "stored", "--human", "mqm", "--resamples", "0",
                       "--statistic", "kendall,spearman,pearson,accuracy", "--group", group)
        for row in rows[:: every // 25 or 1]:
            metric = read_scores(os.path.join(base, "metric-scores", "zh-en", row["metric"] + ".seg.score"))
            table = [[(mqm[s][i], metric[s][i]) for s in systems] for i in range(len(mqm[systems[0]]))]
            table = [[c for c in r if None not in c] for r in table]
            by_system = [[(g, m) for g, m in zip(mqm[s], metric[s]) if g is not None and m is not None] for s in systems]
            if row["statistic"] == "accuracy":
                want = accuracy([np.mean([g for g, _ in s]) for s in by_system], [np.mean([m for _, m in s]) for s in by_system])
            else:
                rows_ = {"none": [[c for r in table for c in r]], "segment": table, "system": by_system}[group]
                want = grouped(row["statistic"], rows_)
            d = abs(row["value"] - want)
            worst, n = max(worst, d), n + 1
            if not d <= 1e-9:
                sys.exit(f"{row}: SciPy has {want}")
    print(f"stored metrics: {n} statistics equal SciPy's, largest difference {worst:.3g}")


def check_cells(program, data, every):
    base = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    read = lambda p: [l.strip() for l in open(os.path.join(base, p), encoding="utf-8")]
    refs = read("references/zh-en.refA.txt")
    path = os.path.join(data, "div-ref", "wmt22.zh-en.refA.diversified")
    div = [ast.literal_eval(l) for l in open(path, encoding="utf-8")]
    outs = {s[:-4]: read(f"system-outputs/zh-en/{s}") for s in os.listdir(os.path.join(base, "system-outputs/zh-en"))}
    with tempfile.TemporaryDirectory() as tmp:
        file = os.path.join(tmp, "matrix.jsonl")
        subprocess.run([program, "score", f"mtme:{base}/zh-en", "--references", f"div-ref-lines:{path}", "-m", "bleu", "-m", "chrf",
                        "-m", "ter", "--per", "cell", "-o", file], check=True)
        peers = {"bleu": BLEU(effective_order=True), "chrf": CHRF(), "ter": TER()}
        worst, n, cells = 0.0, 0, 0
        for line in open(file, encoding="utf-8"):
            if not line.startswith('{"id":"') or '"aggregate":null' not in line:
                continue
            cells += 1
            i = int(line.split('"', 4)[3]) - 1
            if i % every or '"metric":"ter"' in line and i % (10 * every):
                continue
            row = json.loads(line)
            ref = refs[i] if row["reference"] == 0 else div[i][row["reference"] - 1]
            want = peers[row["metric"]].sentence_score(outs[row["system"]][i], [ref]).score
            d = abs(want - row["score"])
            worst, n = max(worst, d), n + 1
            if not d <= 1e-9:
                sys.exit(f"{row}: sacreBLEU has {want}")
        if not n or cells != 3 * len(outs) * len(refs) * 11:
            sys.exit(f"{cells} cells, want {3 * len(outs) * len(refs) * 11}")
    print(f"matrix: {n} of {cells} cells compared, largest difference {worst:.3g}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("refract")
    ap.add_argument("data")
    ap.add_argument("--every", type=int, default=20)
    args = ap.parse_args()
    check_stored(args.refract, args.data, args.every)
    check_cells(args.refract, args.data, args.every)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times fastchrf's pairwise chrF and checks that both programs agree.

usage: fastchrf_speed.py TASK.json --data DIR [--samples N]   writes the task
       fastchrf_speed.py TASK.json                            times it

Two tasks: "wmt" is 14 systems against 11 references for every segment of WMT22 zh-en, "mbr" is N samples
against each other, as in minimum Bayes risk decoding: WMT22 outputs of similar length, since there is no
sampler here. RAYON_NUM_THREADS=1 keeps fastchrf on one core.
"""
import argparse
import ast
import json
import os
import random
import time


def build(path, data, samples):
    base = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    read = lambda p: [l.rstrip("\n") for l in open(os.path.join(base, p), encoding="utf-8")]
    ref = read("references/zh-en.refA.txt")
    div = [ast.literal_eval(l) for l in open(os.path.join(data, "div-ref", "wmt22.zh-en.refA.diversified"), encoding="utf-8")]
    systems = sorted(s for s in os.listdir(os.path.join(base, "system-outputs/zh-en")) if not s.startswith("ref"))[:14]
    outs = [read(f"system-outputs/zh-en/{s}") for s in systems]
    if samples:
        rng = random.Random(1)
        # Samples of one source share much of their wording: variants of one
        # segment, made by swapping spans between its outputs.
        batch = []
        i = max(range(len(ref)), key=lambda i: -abs(len(ref[i]) - 150))
        pool = [o[i].split() for o in outs] + [d.split() for d in [ref[i]] + div[i]]
        texts = []
        for _ in range(samples):
            a, b = rng.sample(pool, 2)
            cut = rng.random()
            texts.append(" ".join(a[: int(cut * len(a))] + b[int(cut * len(b)) :]))
        task = [{"Source": "", "Hypotheses": texts, "References": texts}]
    else:
        task = [{"Source": "", "Hypotheses": [o[i] for o in outs], "References": [ref[i]] + div[i]} for i in range(len(ref))]
    json.dump(task, open(path, "w", encoding="utf-8"), ensure_ascii=False)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("task")
    ap.add_argument("--data")
    ap.add_argument("--samples", type=int, default=0)
    args = ap.parse_args()
    if args.data:
        build(args.task, args.data, args.samples)
        return
    from fastchrf import pairwise_chrf

    task = json.load(open(args.task, encoding="utf-8"))
    hyps, refs = [t["Hypotheses"] for t in task], [t["References"] for t in task]
    pairs = sum(len(h) * len(r) for h, r in zip(hyps, refs))
    best = min(timed(pairwise_chrf, hyps, refs) for _ in range(3))
    print(f"fastchrf {1e9 * best / pairs:.1f} ns/pair over {pairs} pairs")


def timed(f, *a):
    t = time.perf_counter()
    f(*a)
    return time.perf_counter() - t


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes rouge-score's values, in the format of sacrebleu_vectors.py, and stems.

usage: rouge_vectors.py OUT.jsonl STEMS.tsv [--seed N] [--rounds N] [--segments N] [--data DIR]

With --data, rows of real summaries of SummEval and N segments of WMT22 are added,
and the stems of all their words.
"""
import argparse
import itertools
import json
import os
import random
import re

from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer

import sacrebleu_vectors as texts

SUFFIXES = """ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness
aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou
ism ate iti ous ive ize e ll sses ies ss s ed ing ied eed y at bl iz""".split()
LETTERS = "aeiouybcdlstwxz7"
PARTS = {"p": "precision", "r": "recall", "f": "fmeasure"}
KINDS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


def lines(rng, s):
    """A text with its words on several lines, as rougeLsum reads them."""
    return "".join(rng.choice(["\n", "\n\n", " \n"]) if c == " " and rng.random() < 0.1 else c for c in s)


def random_blocks(rng, rounds):
    for _, pool in itertools.product(range(rounds), list(texts.WORDS.values()) + [texts.WORDS["latin"]] * 12 + [list("abcde")] * 6):
        base = lines(rng, texts.line(rng, pool * 2))
        many = lambda n: [lines(rng, texts.vary(rng, base, pool)) if rng.random() < 0.8 else lines(rng, texts.line(rng, pool)) for _ in range(n)]
        yield many(rng.randint(1, 4)), many(rng.randint(1, 5))


def real_blocks(rng, data, most):
    with open(os.path.join(data, "summeval", "summeval.jsonl"), encoding="utf-8") as f:
        for row in rng.sample([json.loads(l) for l in f], most // 10):
            outputs = rng.sample([o for o in row["hypotheses"].values() if o], 3)
            cut = lambda s: re.sub(r" *([.!?]) +", r"\1\n", s)
            yield [f(o) for o in outputs for f in (cut, str)], [f(r) for r in row["references"][:6] for f in (cut, str)][:8]
    wmt = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    read = lambda p: [l.rstrip("\n") for l in open(os.path.join(wmt, p), encoding="utf-8")]
    refs = [read(f"references/zh-en.ref{x}.txt") for x in "AB"]
    outs = [read(f"system-outputs/zh-en/{s}") for s in sorted(os.listdir(os.path.join(wmt, "system-outputs/zh-en")))]
    for i in rng.sample(range(len(refs[0])), most):
        yield [o[i] for o in rng.sample(outs, 4)], [r[i] for r in refs]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("stems")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--segments", type=int, default=300)
    ap.add_argument("--data")
    args = ap.parse_args()
    rng = random.Random(args.seed)
    blocks = list(random_blocks(rng, args.rounds)) + (list(real_blocks(rng, args.data, args.segments)) if args.data else [])
    words = {w for hyps, refs in blocks for s in hyps + refs for w in re.findall("[a-z0-9]+", s.lower())}
    for _ in range(100000):
        words.add("".join(rng.choices(LETTERS, k=rng.randint(0, 5)) + rng.choices(SUFFIXES, k=rng.randint(1, 3))))
        words.add("".join(rng.choices(LETTERS, k=rng.randint(1, 8))))
    stemmer = PorterStemmer()
    with open(args.stems, "w") as f:
        for w in sorted(words):
            f.write(f"{w}\t{stemmer.stem(w)}\n")
    with open(args.out, "w", encoding="utf-8") as f:
        for stem in (False, True):
            scorer = rouge_scorer.RougeScorer(KINDS, use_stemmer=stem)
            for hyps, refs in blocks:
                cells = [[scorer.score(r, h) for r in refs] for h in hyps]
                native = [scorer.score_multi(refs, h) for h in hyps]
                for kind, (part, name) in itertools.product(KINDS, PARTS.items()):
                    f.write(json.dumps({
                        "kind": "segment",
                        "spec": f"{kind}:stemmer={'yes' if stem else 'no'},part={part}",
                        "hypotheses": hyps,
                        "references": refs,
                        "cells": [[float(getattr(c[kind], name)) for c in row] for row in cells],
                        "native": [float(getattr(n[kind], name)) for n in native],
                    }) + "\n")


if __name__ == "__main__":
    main()

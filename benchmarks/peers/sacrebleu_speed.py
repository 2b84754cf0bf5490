#!/usr/bin/env python3
"""Scores a whole matrix with sacreBLEU, from files to a file of scores.

usage: sacrebleu_speed.py METRIC MTME-DIR DIV-REF OUT [--every N] [--function]

One metric object scores all pairs, so that its caches of tokenized texts help; --function calls sentence_bleu
or sentence_chrf for each pair, as in the package's documentation. spbleu is BLEU with the tokenizer flores200.

The segment scores are the maximum over the references, as
`refract score -a max --per segment` writes them.
"""
import argparse
import ast
import os

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

ap = argparse.ArgumentParser()
ap.add_argument("metric", choices=["bleu", "chrf", "spbleu"])
ap.add_argument("folder")
ap.add_argument("div")
ap.add_argument("out")
ap.add_argument("--every", type=int, default=1)
ap.add_argument("--function", action="store_true")
args = ap.parse_args()
tokenizer = {"tokenize": "flores200"} if args.metric == "spbleu" else {}
metric = CHRF() if args.metric == "chrf" else BLEU(effective_order=True, **tokenizer)
score = metric.sentence_score
if args.function:
    score = sacrebleu.sentence_chrf if args.metric == "chrf" else sacrebleu.sentence_bleu
read = lambda p: [l.strip() for l in open(os.path.join(args.folder, p), encoding="utf-8")]
refs = [[r] + d for r, d in zip(read("references/zh-en.refA.txt"), (ast.literal_eval(l) for l in open(args.div, encoding="utf-8")))]
systems = sorted(os.listdir(os.path.join(args.folder, "system-outputs/zh-en")))
outs = [read(f"system-outputs/zh-en/{s}") for s in systems]
pairs = 0
with open(args.out, "w") as f:
    for i in range(0, len(refs), args.every):
        for s, o in zip(systems, outs):
            scores = [score(o[i], [r]).score for r in refs[i]]
            pairs += len(scores)
            f.write(f"{i + 1}\t{s[:-4]}\t{max(scores)!r}\n")
print(pairs)

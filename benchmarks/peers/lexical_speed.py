#!/usr/bin/env python3
"""Scores a whole matrix with rouge-score or pycocoevalcap, from files to a file of scores.

usage: lexical_speed.py METRIC MTME-DIR DIV-REF OUT [--every N]

rouge1 to rougeLsum score every pair by one scorer, and write the maximum over the references; --every N takes
every N-th segment. cider-d, which needs Java, scores every system against all references at once, as the
package does; --every N takes every N-th system. Prints the number of scored pairs, the seconds for scoring, and
the seconds before.
"""
import argparse
import ast
import os
import time

began = time.perf_counter()

ap = argparse.ArgumentParser()
ap.add_argument("metric")
ap.add_argument("folder")
ap.add_argument("div")
ap.add_argument("out")
ap.add_argument("--every", type=int, default=1)
args = ap.parse_args()
read = lambda p: [l.strip() for l in open(os.path.join(args.folder, p), encoding="utf-8")]
refs = [[r] + d for r, d in zip(read("references/zh-en.refA.txt"), (ast.literal_eval(l) for l in open(args.div, encoding="utf-8")))]
systems = sorted(os.listdir(os.path.join(args.folder, "system-outputs/zh-en")))
pairs = 0
with open(args.out, "w") as f:
    if args.metric == "cider-d":
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

        captions = lambda lists: PTBTokenizer().tokenize({i: [{"caption": s} for s in l] for i, l in enumerate(lists)})
        truth = captions(refs)
        ready = time.perf_counter()
        for s in systems[:: args.every]:
            _, scores = Cider().compute_score(truth, captions([o] for o in read(f"system-outputs/zh-en/{s}")))
            pairs += sum(map(len, refs))
            for i, v in enumerate(scores):
                f.write(f"{i + 1}\t{s[:-4]}\t{float(v)!r}\n")
    else:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([args.metric])
        outs = [read(f"system-outputs/zh-en/{s}") for s in systems]
        ready = time.perf_counter()
        for i in range(0, len(refs), args.every):
            for s, o in zip(systems, outs):
                scores = [scorer.score(r, o[i])[args.metric].fmeasure for r in refs[i]]
                pairs += len(scores)
                f.write(f"{i + 1}\t{s[:-4]}\t{max(scores)!r}\n")
print(pairs, time.perf_counter() - ready, ready - began)

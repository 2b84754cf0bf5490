#!/usr/bin/env python3
"""Writes the results of sacreBLEU's paired tests on generated texts, with the statistics.

usage: systems_vectors.py FILE
"""
import json
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, TER
from sacrebleu.significance import PairedTest

from systems_check import made


def main():
    refs, outs = made(40, 3)
    out = {"sacrebleu": sacrebleu.__version__, "metrics": {}}
    for name, kind in (("bleu", BLEU), ("ter", TER)):
        metric = kind(references=refs)
        of = {"statistics": [metric._extract_corpus_statistics(lines, None) for lines in outs.values()]}
        for test in ("bs", "ar"):
            _, scores = PairedTest(list(outs.items()), {name: metric}, None, test_type=test)()
            (results,) = (v for k, v in scores.items() if k != "System")
            of[test] = [{"score": r.score, "p": r.p_value, "mean": r.mean, "ci": r.ci} for r in results]
        out["metrics"][name] = of
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(out, f, separators=(",", ":"), default=float)
        f.write("\n")


if __name__ == "__main__":
    main()

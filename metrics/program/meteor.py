#!/usr/bin/env python3
"""METEOR 1.5 for English (Denkowski and Lavie, 2014) as a program for refract.

    refract score --ref ref.txt --hyp a=a.txt -m 'exec:processes=1 python3 meteor.py'

It runs meteor-1.5.jar, which the PyPI package pycocoevalcap has, on Java, and needs 2 GB of memory for each
process. The numbers equal METEOR's with -norm; with --ptb, which tokenizes as in image captioning, they equal
pycocoevalcap's. METEOR handles several references itself (native).
"""

import argparse
import importlib.util
import os
import subprocess

import refract_metric

# What pycocoevalcap removes from tokenized text.
PUNCTUATION = {"''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"}


def folder():
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None:
        raise SystemExit("meteor.py: pycocoevalcap is not installed: pip install pycocoevalcap==1.2 --no-deps")
    return list(spec.submodule_search_locations)[0]


class Meteor:
    def __init__(self, jar):
        self.java = refract_metric.start(
            ["java", "-Xmx2G", "-jar", jar, "-", "-", "-stdio", "-l", "en", "-norm"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, *fields):
        self.java.stdin.write(" ||| ".join(fields) + "\n")
        self.java.stdin.flush()

    def answer(self):
        line = self.java.stdout.readline()
        if not line:
            raise SystemExit("meteor.py: METEOR ended")
        return line.strip()

    def score(self, hypothesis, references):
        self.ask("SCORE", *references, hypothesis)
        statistics = self.answer()
        if statistics.startswith("Error"):
            return None
        self.ask("EVAL", statistics)
        score = float(self.answer())
        self.answer()  # the total over the call's segments, of which there is one
        return score


def line(text):
    """The text as a field of METEOR's protocol."""
    return " ".join(text.replace("|||", " ").split())


def ptb(jar, texts):
    """The texts as pycocoevalcap gives them to METEOR."""
    done = subprocess.run(
        ["java", "-cp", jar, "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase"],
        input="\n".join(" ".join(t.split()) for t in texts) + "\n", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", check=True)
    lines = done.stdout.split("\n")[:len(texts)]
    if len(lines) != len(texts):
        raise RuntimeError(f"{len(lines)} lines of {len(texts)} texts come from the tokenizer")
    return [" ".join(w for w in words.split() if w not in PUNCTUATION) for words in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jar", help="meteor-1.5.jar (default: pycocoevalcap's)")
    parser.add_argument("--ptb", action="store_true", help="tokenize as pycocoevalcap does")
    args = parser.parse_args()
    meteor = Meteor(args.jar or os.path.join(folder(), "meteor", "meteor-1.5.jar"))
    tokenizer = os.path.join(folder(), "tokenizer", "stanford-corenlp-3.4.1.jar") if args.ptb else None

    def segments(all, native):
        texts = [t for s in all for t in s["hypotheses"] + s["references"]]
        clean = iter(ptb(tokenizer, texts) if tokenizer else texts)
        out = []
        for s in all:
            hypotheses = [line(next(clean)) for _ in s["hypotheses"]]
            references = [line(next(clean)) for _ in s["references"]]
            sets = [references] if native else [[r] for r in references]
            out.append([meteor.score(h, refs) for h in hypotheses for refs in sets])
        return out

    refract_metric.run(
        "meteor:ptb" if args.ptb else "meteor", segments=segments, native=True, lower=0, upper=1, batch=64,
        signature={"meteor": "1.5", "lang": "en", "tok": "ptb-3.4.1" if args.ptb else "norm"})


main()

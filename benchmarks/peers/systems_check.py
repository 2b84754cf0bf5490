#!/usr/bin/env python3
"""Compares `refract systems` with sacreBLEU's paired tests.

usage: systems_check.py REFRACT [--data DATA] [--ter N] [--speed]

Systems are compared under BLEU, chrF and TER, with one reference and with two, by paired bootstrap and by
approximate randomization: scores within 1e-9, means and intervals to sacreBLEU's single precision, p-values
equal. Without DATA the texts are generated from a fixed seed, and with it they are systems of WMT22 zh-en.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

PEERS = {"bleu": ("BLEU", BLEU), "chrf": ("chrF2", CHRF), "ter": ("TER", TER)}


def made(n, systems):
    """References that share words, and systems that lose more of them in turn."""
    rng = random.Random(7)
    words = [f"w{i}" for i in range(300)]
    refs = [[" ".join(rng.choices(words, k=rng.randint(1, 25))) for _ in range(n)] for _ in range(2)]
    outs = {}
    for s in range(systems):
        lines = []
        for line in refs[0]:
            kept = [w if rng.random() > 0.2 + 0.01 * s else rng.choice(words) for w in line.split()]
            rng.random() < 0.1 and rng.shuffle(kept)
            lines.append(" ".join(kept))
        outs[f"s{s}"] = lines
    outs["same"] = outs["s0"]
    return refs, outs


def real(data, n):
    base = os.path.join(data, "mt-metrics-eval-v2", "wmt22")
    read = lambda p: open(os.path.join(base, p), encoding="utf-8").read().split("\n")[:n]
    names = sorted(f[:-4] for f in os.listdir(os.path.join(base, "system-outputs/zh-en")) if not f.startswith("ref"))
    refs = [read(f"references/zh-en.{r}.txt") for r in ("refA", "refB")]
    n = min(len(refs[0]), 1875)
    return [r[:n] for r in refs], {s: read(f"system-outputs/zh-en/{s}.txt")[:n] for s in names}


def write(path, lines):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.writelines(line + "\n" for line in lines)


class Check:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.scores = self.ps = self.intervals = self.other = self.equal = 0
        self.worst = 0.0

    def refract(self, refs, outs, metrics, test, resamples):
        args = ["systems", "--test", test, "-f", "json", "-q"]
        for i, lines in enumerate(refs):
            write(f"{self.folder}/ref{i}", lines)
            args += ["--ref", f"{self.folder}/ref{i}"]
        for i, (name, lines) in enumerate(outs.items()):
            write(f"{self.folder}/hyp{i}", lines)
            args += ["--hyp", f"{name}={self.folder}/hyp{i}"]
        for m in metrics:
            args += ["-m", m]
        if resamples:
            args += ["--resamples", str(resamples)]
        start = time.perf_counter()
        out = subprocess.run([self.program, *args], check=True, capture_output=True, text=True).stdout
        self.seconds = time.perf_counter() - start
        return {(r["metric"], r["system"]): r for r in json.loads(out)}

    def sacrebleu(self, refs, outs, metrics, test, resamples):
        peers = {PEERS[m][0]: PEERS[m][1](references=refs) for m in metrics}
        start = time.perf_counter()
        _, scores = PairedTest(list(outs.items()), peers, None, test_type=test[-2:], n_samples=resamples)()
        self.peer_seconds = time.perf_counter() - start
        return scores

    def run(self, refs, outs, metrics, test, resamples=0):
        ours = self.refract(refs, outs, metrics, test, resamples)
        theirs = self.sacrebleu(refs, outs, metrics, test, resamples)
        for m in metrics:
            for name, want in zip(theirs["System"], theirs[PEERS[m][0]]):
                got = ours[m, name]
                self.near(got["score"], want.score, 1e-9, (m, name, "score"))
                self.scores += 1
                if want.mean is not None:
                    low, high = got["ci"]
                    self.near(got["ci_mean"], want.mean, 2e-4, (m, name, "mean"))
                    self.near((high - low) / 2, want.ci, 2e-4, (m, name, "interval"))
                    self.intervals += 1
                if want.p_value is None:
                    continue
                if got["result"] == "equal":  # no p-value; sacreBLEU gives the smallest
                    n = resamples or (10000 if test == "paired-ar" else 1000)
                    self.near(want.p_value, 1 / (n + 1), 1e-12, (m, name, "p of equal outputs"))
                    self.equal += 1
                    continue
                self.ps += 1
                if abs(got["p_sacrebleu"] - want.p_value) > 1e-12:
                    self.other += 1
                    n = resamples or (10000 if test == "paired-ar" else 1000)
                    print(f"{test} {m} {name}: p = {got['p']:.6f}, sacreBLEU {want.p_value:.6f}: {round((got['p'] - want.p_value) * (n + 1)):+d} of {n}")

    def near(self, got, want, most, what):
        d = abs(got - want)
        if most > 1e-6:
            self.worst = max(self.worst, d)
        if not d <= most:
            sys.exit(f"{what}: {got}, sacreBLEU has {want}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("refract")
    ap.add_argument("--data")
    ap.add_argument("--ter", type=int, default=250, help="segments under TER; sacreBLEU does 40 a second")
    ap.add_argument("--speed", action="store_true")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(args.refract, folder)
        refs, outs = real(args.data, 1875) if args.data else made(1875, 13)
        if args.speed:
            for test in ("paired-bs", "paired-ar"):
                check.run(refs[:1], outs, ["bleu"], test)
                print(f"{test}, BLEU, {len(outs)} systems × {len(refs[0])} segments: refract {check.seconds:.2f} s, "
                      f"sacreBLEU {check.peer_seconds:.1f} s, ratio {check.peer_seconds / check.seconds:.0f}")
        for metrics, n, several in ((m, n, k) for m, n in ((["bleu", "chrf"], 250), (["ter"], args.ter)) for k in (1, 2)):
            few = {name: outs[name][:n] for name in list(outs)[:3] + list(outs)[-1:]}
            short = [r[:n] for r in refs[:several]]
            check.run(short, few, metrics, "paired-bs")
            check.run(short, few, metrics, "paired-ar", 1000)
    print(f"systems: {check.scores} scores, {check.intervals} intervals (largest difference {check.worst:.2g}) and "
          f"{check.ps} p-values of sacreBLEU's paired tests, {check.ps - check.other} of them equal; {check.equal} pairs of equal outputs without one")
    if check.other:
        sys.exit(1)


if __name__ == "__main__":
    main()

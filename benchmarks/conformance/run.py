#!/usr/bin/env python3
"""Runs the cases through the packages that are installed, as their users would.

usage: run.py [--results FILE] [--only NAME;…] [--evaluate-metrics DIR] [--reproduce NAME CASE]

Each package runs a program, printed by --reproduce, which computes the score of a case. --results updates a
file with the findings; those of packages not installed here stay as they are. Metric scripts of Hugging Face
evaluate come from its hub; without it, DIR is the folder "metrics" of a checkout of its repository.
"""
import argparse
import contextlib
import importlib.metadata
import io
import json
import logging
import math
import os
import pathlib
import sys
import warnings

from packages import PACKAGES, Inexpressible

HERE = pathlib.Path(__file__).parent


def verdict(case, program, expect, within):
    """right, wrong or refused, and the number or error that the program gave."""
    names = {"__name__": "case"}
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(program, case["name"], "exec"), names)
        got = names["score"]
        got = None if got is None else float(got)
    except Exception as e:
        got, error = None, f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"
    else:
        error = None if got is not None and math.isfinite(got) else f"no number: {got}"
    number = error is None
    if isinstance(expect, str):
        return ("wrong", got) if number else ("right", error)
    if not number:
        return "refused", error
    return ("right" if abs(got - expect) <= within else "wrong"), got


def run(package, cases):
    found = {"package": package.name, "version": importlib.metadata.version(package.distribution),
             "api": package.api, "groups": {}, "wrong": [], "refused": []}
    for case in cases:
        counts = found["groups"].setdefault(case["group"], {"right": 0, "wrong": 0, "refused": 0, "cannot": 0})
        try:
            program = package.program(case)
        except Inexpressible:
            counts["cannot"] += 1
            continue
        expect = package.expect(case)
        what, got = verdict(case, program, expect, package.within)
        counts[what] += 1
        if what != "right":
            found[what].append({"case": case["name"], "got": got, "expect": expect})
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--results")
    parser.add_argument("--only")
    parser.add_argument("--evaluate-metrics")
    parser.add_argument("--reproduce", nargs=2, metavar=("NAME", "CASE"))
    args = parser.parse_args()
    if args.evaluate_metrics:
        os.environ["EVALUATE_METRICS"] = args.evaluate_metrics
    cases = [json.loads(line) for line in (HERE / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    if args.reproduce:
        package = next(p for p in PACKAGES if p.name == args.reproduce[0])
        print(package.program(next(c for c in cases if c["name"] == args.reproduce[1])))
        return
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    old = {}
    if args.results and os.path.exists(args.results):
        old = {f["package"]: f for f in json.loads(pathlib.Path(args.results).read_text(encoding="utf-8"))}
    for package in PACKAGES:
        if args.only and package.name not in args.only.split(";"):
            continue
        if reason := package.absent():
            print(f"{package.name}: unchecked: {reason}")
            continue
        found = old[package.name] = run(package, cases)
        total = {k: sum(g[k] for g in found["groups"].values()) for k in ("right", "wrong", "refused", "cannot")}
        print(f"{package.name} {found['version']}: " + ", ".join(f"{n} {k}" for k, n in total.items()))
    if args.results:
        rows = [old[p.name] for p in PACKAGES if p.name in old]
        text = json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
        pathlib.Path(args.results).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""Compares METEOR or SPICE, which refract runs as a program, with the official packages' values.

usage: program_check.py REFRACT SPEC FIGURES WORK SINGLE NATIVE [ptb]

SINGLE and NATIVE name the lists of figures, such as meteor.ptb_1ref.segments; with
ptb the texts are given tokenized.
"""

import json
import os
import subprocess
import sys


def main():
    refract, spec, figures, work, *lists = sys.argv[1:]
    data = json.load(open(figures, encoding="utf-8"))
    kind = "ptb_" if lists[2:] else ""
    inputs = data["inputs"]
    command = [refract, "score", "-m", spec, "-a", "single,native", "--per", "segment", "-f", "jsonl"]
    for i in range(3):
        write(f"{work}/ref{i}", [x[kind + "refs"][i] for x in inputs])
        command += ["--ref", f"{work}/ref{i}"]
    write(f"{work}/hyp", [x[kind + "hyp"] for x in inputs])
    rows = subprocess.run(command + ["--hyp", f"a={work}/hyp"], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    got = {"single": [], "native": []}
    for row in map(json.loads, rows.splitlines()):
        got[row["aggregate"]].append(row["score"])
    for aggregate, name in zip(("single", "native"), lists):
        want = data
        for key in name.split("."):
            want = want[key]
        want = [w["f"] if isinstance(w, dict) else w for w in want]
        far = max(abs(g - w) for g, w in zip(got[aggregate], want, strict=True))
        print(f"{spec.split()[-1]}: {aggregate}, {len(want)} scores, {name}: at most {far:g} apart")
        if not far <= 1e-9:
            sys.exit(1)


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(" ".join(line.split()) + "\n" for line in lines)


main()

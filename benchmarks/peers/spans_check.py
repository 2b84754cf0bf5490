#!/usr/bin/env python3
"""Compares precision, recall and F1 of error spans with the function of WMT25's shared task.

usage: spans_check.py REFRACT CLONE [--seed N] [--outputs N]

CLONE is one of wmt-conference/wmt25-mteval; its main program swaps precision and recall in what it prints, so the
function is called. Random errors of a person are written as ratings, and those of a judge as reports.
"""
import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import types

def official(clone):
    path = clone / "scripts" / "scoring" / "task2" / "scoring_esa.py"
    sys.modules.setdefault("pandas", types.ModuleType("pandas"))  # for its files
    spec = importlib.util.spec_from_file_location("scoring_esa", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.get_char_f1


def errors(rng, text, *severities):
    """Spans that overlap, some without a place."""
    out = []
    for _ in range(rng.randint(0, 3)):
        start = rng.randrange(len(text))
        out.append({"start": start, "end": rng.randint(start + 1, len(text)), "severity": rng.choice(severities)})
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("refract")
    ap.add_argument("clone", type=pathlib.Path)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--outputs", type=int, default=500)
    args = ap.parse_args()
    rng, score = random.Random(args.seed), official(args.clone)
    ratings, reports, lengths, people, judge = ["system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"], [], [], [], []
    for i in range(args.outputs):
        text = f"{i}" + "".join(rng.choices("abcé中😀", k=rng.randint(5, 40)))
        segment, system = i // 2, f"s{i % 2}"
        theirs, ours = errors(rng, text, "minor", "major", "undecided"), errors(rng, text, "minor", "major", "critical", "undecided")
        for e in theirs:
            marked = text[:e["start"]] + "<v>" + text[e["start"]:e["end"]] + "</v>" + text[e["end"]:]
            ratings.append(f"{system}\td{segment % 20}\t{segment}\tr\tsource {segment}\t{marked}\tOther\t{e['severity'].replace('undecided', 'neutral').capitalize()}")
        if not theirs:
            ratings.append(f"{system}\td{segment % 20}\t{segment}\tr\tsource {segment}\t{text}\tNo-error\tNo-error")
        reports.append({"id": str(segment), "system": system, "status": "scored" if ours else "no-error", "score": float(-len(ours)), "errors": [
            {"location": text[e["start"]:e["end"]], "place": "hypothesis", "span": [e["start"], e["end"]], "aspect": "", "explanation": "", "penalty": 1,
             "severity": "" if e["severity"] == "undecided" else e["severity"]} for e in ours]})
        lengths.append(len(text))
        people.append(theirs)
        judge.append(ours)
    want = score(lengths, people, judge)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "r.tsv").write_text("\n".join(ratings) + "\n", encoding="utf-8")
        (folder / "j.jsonl").write_text("".join(json.dumps(r) + "\n" for r in reports), encoding="utf-8")
        done = subprocess.run([args.refract, "-q", "compare", f"mqm:{folder / 'r.tsv'}", "--scores", f"judge={folder / 'j.jsonl'}",
                               "--table", "spans", "--resamples", "0", "-f", "json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    row = json.loads(done.stdout)[0]
    for name, value in zip(("precision", "recall", "f1"), map(float, want)):
        if abs(row[name] - value) > 1e-12:
            sys.exit(f"{name}: {row[name]}, the task has {value}")
    print(f"{args.outputs} outputs: precision, recall and F1 equal the task's: {row['precision']}, {row['recall']}, {row['f1']}")


if __name__ == "__main__":
    main()

"""Compares the figures of 'refract judges agree' with SciPy's and krippendorff's,
and with plain definitions of the agreement of spans, on random reports.

usage: agree_check.py REFRACT FOLDER [ROUNDS]
"""

import collections
import json
import os
import subprocess
import sys

import krippendorff
import numpy as np
import scipy.stats

SEVERITIES = ["neutral", "minor", "major", "critical"]
LENGTH = 30  # characters of a text


def report(r, errors):
    """Errors with spans that may overlap and repeat; some have none."""
    out = []
    for _ in range(r.integers(0, errors)):
        severity = str(r.choice(SEVERITIES[1:3] * 3 + SEVERITIES))
        start = int(r.integers(0, LENGTH - 1))
        end = int(min(LENGTH, start + r.integers(1, 9)))
        placed = r.random() < 0.9
        out.append({"location": "x", "place": "hypothesis" if placed else "source", "span": [start, end] if placed else None, "severity": severity})
    return out


def spans(errors):
    return [(*e["span"], e["severity"]) for e in errors if e["span"]]


def pairs(a, b):
    """Spans that overlap, one to one, those with the highest F1 first."""
    found = []
    for i, x in enumerate(a):
        for k, y in enumerate(b):
            shared = len(set(range(x[0], x[1])) & set(range(y[0], y[1])))
            if shared:
                ends = [sorted((x[n], y[n])) for n in range(2)]
                found.append((-2 * shared / (x[1] - x[0] + y[1] - y[0]), x[2] != y[2], ends, sorted((x[2], y[2])), i, k))
    taken, out = (set(), set()), []
    for credit, _, _, _, i, k in sorted(found):
        if i not in taken[0] and k not in taken[1]:
            taken[0].add(i)
            taken[1].add(k)
            out.append((-credit, a[i][2], b[k][2]))
    return out


def characters(of):
    """The worst severity of each character that is marked."""
    worst = {}
    for start, end, severity in of:
        for at in range(start, end):
            worst[at] = max(worst.get(at, severity), severity, key=SEVERITIES.index)
    return worst


def counts(a, b):
    """Credit, and what each side has: exact, partial, characters, graded."""
    a, b = spans(a), spans(b)
    exact = sum((collections.Counter(s[:2] for s in a) & collections.Counter(s[:2] for s in b)).values())
    x, y = characters(a), characters(b)
    both = x.keys() & y.keys()
    graded = sum(1 if x[at] == y[at] else 0.5 for at in both)
    return np.array([[exact, len(a), len(b)], [sum(p[0] for p in pairs(a, b)), len(a), len(b)], [len(both), len(x), len(y)], [graded, len(x), len(y)]])


def alpha(columns, level):
    data = np.array(columns, dtype=float)
    if len(np.unique(data[~np.isnan(data)])) < 2:
        return float("nan")
    return krippendorff.alpha(reliability_data=data, level_of_measurement=level)


def figures(outputs):
    """What the two judges of all outputs have in common."""
    x, y = np.array([[a["score"], b["score"]] for _, a, b in outputs]).T
    sums = sum(counts(a["errors"], b["errors"]) for _, a, b in outputs)
    out = {"pearson": scipy.stats.pearsonr(x, y).statistic, "kendall": scipy.stats.kendalltau(x, y).statistic, "alpha": alpha([x, y], "interval")}
    for name, (credit, left, right) in zip(["exact", "partial", "characters", "graded"], sums):
        out[name + "_precision"], out[name + "_recall"] = credit / right, credit / left
        out[name + "_f1"] = 2 * credit / (left + right)
    together = [p[1:] for _, a, b in outputs for p in pairs(spans(a["errors"]), spans(b["errors"]))]
    ranks = [[SEVERITIES.index(s) for s in side] for side in zip(*together)]
    out["severities"] = len(together)
    out["same_severity"] = np.mean([s == t for s, t in together])
    out["severity_alpha"] = alpha(ranks, "ordinal")
    return out


def run(refract, *args):
    done = subprocess.run([refract, "judges", "agree", *args, "-f", "json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def two_judges(r, refract, folder, intervals):
    documents, outputs, segments = int(r.integers(6, 12)), [], []
    files = [os.path.join(folder, name + ".jsonl") for name in ("a", "b", "data")]
    for d in range(documents):
        level = r.integers(-6, 0)
        for s in range(int(r.integers(1, 6))):
            id = f"{d}-{s}"
            segments.append({"id": id, "document": str(d), "references": ["x"], "hypotheses": {}})
            for system in "uvw":
                segments[-1]["hypotheses"][system] = "x" * LENGTH
                rows = [{"id": id, "system": system, "metric": m, "status": "scored", "score": float(level + r.integers(-3, 3)), "errors": report(r, 5)} for m in "ab"]
                outputs.append((str(d), *rows))
    for side in range(2):
        with open(files[side], "w", encoding="utf-8") as f:
            for o in outputs:
                f.write(json.dumps(o[1 + side]) + "\n")
    with open(files[2], "w", encoding="utf-8") as f:
        f.writelines(json.dumps(s) + "\n" for s in segments)
    row = run(refract, files[0], files[1], "--dataset", "jsonl:" + files[2], "--bootstrap", str(intervals))[0]
    for name, want in figures(outputs).items():
        got = row[name]
        assert got is None and np.isnan(want) or abs(got - want) < 1e-9, (name, got, want)
    if not intervals:
        return
    by = collections.defaultdict(list)
    for o in outputs:
        by[o[0]].append(o)
    drawn = [figures([o for d in r.choice(list(by), len(by)) for o in by[d]]) for _ in range(intervals)]
    for name in ["pearson", "kendall", "alpha", "exact_f1", "partial_f1", "characters_f1", "graded_f1"]:
        low, high = np.percentile([f[name] for f in drawn], [2.5, 97.5])
        got = row[name.removesuffix("_f1") + "_ci"]
        room = 0.35 * (high - low) + 1e-9
        assert abs(got[0] - low) < room and abs(got[1] - high) < room, (name, got, low, high)


def raters(r, refract, folder):
    """Raters who have rated some outputs each, as Marot has them."""
    names, weights = ["r1", "r2", "r3", "r4"], {"No-error": 0, "Neutral": 0, "Minor": 1, "Major": 5}
    path = os.path.join(folder, "raters.tsv")
    table = np.full((len(names), 40), np.nan)
    with open(path, "w", encoding="utf-8") as f:
        f.write("system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n")
        for segment in range(table.shape[1]):
            severity = r.choice(list(weights))
            for k, name in enumerate(names):
                if r.random() < 0.4:
                    continue
                said = severity if r.random() < 0.7 else r.choice(list(weights))
                table[k, segment] = -weights[said]
                f.write(f"s\td{segment // 4}\t{segment}\t{name}\ts\tt\t{'No-error' if said == 'No-error' else 'Other'}\t{said}\n")
    row = run(refract, "mqm:" + path, "--raters", "--bootstrap", "0")[-1]
    assert row["judge_a"] == "all 4 raters", row
    rated = (~np.isnan(table)).sum(axis=0) > 1
    assert row["outputs"] == rated.sum(), (row, rated.sum())
    want = alpha(table, "interval")
    assert abs(row["alpha"] - want) < 1e-9, (row["alpha"], want)


def main():
    refract, folder = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    r = np.random.default_rng(20241123)
    for i in range(rounds):
        two_judges(r, refract, folder, 400 if i % 10 == 0 else 0)
        raters(r, refract, folder)
    print(f"{rounds} pairs of judges and {rounds} sets of raters agree as SciPy, krippendorff and plain definitions have it")


if __name__ == "__main__":
    main()

"""mt-metrics-eval's values for WMT22 zh-en, for Go tests to compare with.

    mtme_check.py values DATA OUT.json    statistics of all stored metrics
    mtme_check.py pvalues DATA OUT.json   permutation tests of some pairs
    mtme_check.py tasks DATA RESULT.json  values, weights and averages of the tasks
                                          of benchmarks/recipes/wmt22/tasks.yaml
    mtme_check.py averages DATA OUT.json  clusters over made-up tasks
    mtme_check.py speed DATA GO.json...   its speed, next to Go's

mt_metrics_eval is imported from PYTHONPATH, a checkout of its repository. Only its modules stats and tasks are
used, which need numpy and scipy. Speeds are measured on a few resamples, per resample, without the set-up.
"""

import collections
import json
import os
import pathlib
import sys
import time
import unittest.mock

import numpy as np
import scipy
import scipy.stats
from mt_metrics_eval import pce, stats

PAIRS = [("COMET-22-refA", "metricx_xxl_MQM_2020-refA"), ("chrF-refA", "f200spBLEU-refA"), ("BERTScore-refA", "COMETKiwi-src")]
ORIGIN = f"mt-metrics-eval at 68a481aea1a787392d55af8f76ac8ef40c5f4664 (2026-04-23), numpy {np.__version__}, scipy {scipy.__version__}; WMT22 zh-en, MQM, the 14 systems that have it"


def read(path):
    """Scores by system, None if missing."""
    out = collections.OrderedDict()
    for line in path.read_text().splitlines():
        system, score = line.rsplit("\t", 1) if "\t" in line else line.rsplit(None, 1)
        out.setdefault(system.strip(), []).append(None if score == "None" else float(score))
    return out


class Data:
    def __init__(self, root):
        self.dir = pathlib.Path(root) / "mt-metrics-eval-v2" / "wmt22"
        self.gold = read(self.dir / "human-scores" / "zh-en.mqm.seg.score")
        # In a fixed order: soft accuracy depends on it where p-values are tied.
        self.systems = sorted(s for s, v in self.gold.items() if s not in ("refA", "refB") and any(x is not None for x in v))
        suffix = ".seg.score"
        self.metrics = sorted(f.name[: -len(suffix)] for f in (self.dir / "metric-scores" / "zh-en").glob("*" + suffix))

    def scores(self, metric):
        return read(self.dir / "metric-scores" / "zh-en" / f"{metric}.seg.score")

    def correlation(self, metric):
        m = self.scores(metric)
        flat = lambda d: sum((d[s] for s in self.systems), [])
        return stats.Correlation(len(self.systems), flat(self.gold), flat(m))


GROUPS = {"none": "none", "segment": "item", "system": "sys"}


def values(data, out):
    document = {"origin": ORIGIN, "values": {}, "soft_exact": {}}
    gold = np.array([data.gold[s] for s in data.systems], float)
    for name in data.metrics:
        c, v = data.correlation(name), {}
        for group, by in GROUPS.items():
            v[f"pearson {group}"] = c.Pearson(by)[0]
            v[f"spearman {group}"] = c.Spearman(by)[0]
            v[f"kendall {group}"] = c.Kendall(by, "b")[0]
            v[f"kendall-c {group}"] = c.Kendall(by, "c")[0]
            v[f"acc23-uncalibrated {group}"] = c.KendallVariants(by, "acc23")[0]
        # Other groupings have too many pairs for its lists and matrices.
        v["acc23 segment"], v["epsilon acc23 segment"], _ = stats.KendallWithTiesOpt(
            c.gold_scores, c.metric_scores, "acc23", c.num_sys, "item", 1.0)
        v["soft-accuracy none"] = c.PairwiseConfidenceError("sys")[0]
        scores = data.scores(name)
        metric = np.array([scores[s] for s in data.systems], float)
        agree, n = stats.Agreement(gold.mean(1), metric.mean(1))
        v["accuracy none"] = agree / n
        document["values"][name] = {k: float(x) for k, x in v.items()}
        document["soft_exact"][name] = exact_soft_accuracy(gold, metric)
    pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")
    print(f"{ORIGIN}: {sum(map(len, document['values'].values()))} values")


def exact_soft_accuracy(gold, metric):
    """Soft accuracy with mt-metrics-eval's masks and without its rounding: MQM scores are tenths, whose sums
    are exact as integers."""
    masks = np.rint(np.random.default_rng(4).random(size=(1000, gold.shape[1]), dtype=np.float32)) * 2 - 1

    def p_values(x):
        totals, parts = x.sum(1), masks.astype(x.dtype) @ x.T
        i, j = np.triu_indices(len(x), 1)
        return (parts[:, i] - parts[:, j] >= totals[i] - totals[j]).mean(0)

    return float(1 - np.abs(p_values(np.rint(gold * 10).astype(np.int64)) - p_values(metric)).mean())


def p_values(data, out):
    rows = []

    def add(test, statistic, group, a, b, result):
        rows.append({"test": test, "statistic": statistic, "group": group, "a": a, "b": b,
                     "p": float(result[0]), "delta": float(result[1]), "resamples": int(result[2])})

    np.random.seed(1)
    for a, b in PAIRS:
        # It tests whether its second argument is better.
        x, y = data.correlation(b), data.correlation(a)
        add("perm-both", "kendall", "none", a, b, stats.PermutationSigDiff(x, y, scipy.stats.kendalltau, "none", 1000))
        add("perm-both", "pearson", "none", a, b, stats.PermutationSigDiff(x, y, scipy.stats.pearsonr, "none", 1000))
        add("perm-both", "kendall", "segment", a, b, stats.PermutationSigDiff(x, y, stats.KendallVariants, "item", 100, variant="b"))
        r = stats.WilliamsSigDiff(y, x, scipy.stats.pearsonr)
        add("williams", "pearson", "none", a, b, (r[0] if r[1] >= r[2] else 1 - r[0], r[1] - r[2], 0))
    a, b = PAIRS[0]
    add("perm-pairs", "acc23", "segment", a, b, stats.PairwisePermutationSigDiff(data.correlation(b), data.correlation(a), "acc23", "item", 100))
    pathlib.Path(out).write_text(json.dumps({"origin": ORIGIN, "tests": rows}, indent=1) + "\n")
    print(f"{ORIGIN}: {len(rows)} tests")


def its_tasks():
    for other in "apache_beam", "dacite":  # not needed here
        sys.modules.setdefault(other, unittest.mock.MagicMock())
    from mt_metrics_eval import tasks

    return tasks


def averages(_, out):
    """Made-up tasks of five metrics, with the draws of each pair's test, some of which stop early, and the
    resulting averages and clusters."""
    tasks, rng, metrics = its_tasks(), np.random.default_rng(7), "abcde"
    results, weights, document = [], [0.5, 0.3, 0.2], []
    for k, function in enumerate(("pearson", "pce", "kendall")):
        values = dict(zip(metrics, (np.linspace(0.5, 0.3, 5) + rng.normal(0, 0.05, 5)).round(4).tolist()))
        order = sorted(metrics, key=lambda m: -values[m])
        lists, index = [], np.zeros((5, 5), dtype=int)
        pairs = []
        for i in range(5):
            for j in range(i + 1, 5):
                draws = rng.normal(0.4, 0.03, (int(rng.choice([20, 50])), 2)).round(4)
                index[i, j] = sum(map(len, lists))
                index[j, i] = index[i, j] + len(draws)
                lists.append(draws)
                pairs.append({"a": order[i], "b": order[j], "draws": (draws[:, 0] - draws[:, 1]).tolist()})
        ranks = {m: (values[m], r + 1) for r, m in enumerate(order)}
        task = tasks.Task("wmt22", "zh-en", level="sys", corr_fcn=function)
        results.append(tasks.TaskResults(task, (ranks, np.zeros((5, 5)), index, np.concatenate(lists))))
        low = 0 if function == "pce" else -1
        document.append({"weight": weights[k], "least": low, "values": values, "order": order, "pairs": pairs})
    found, matrix = tasks.TaskSetResults(results).AverageCorrMatrix(weights)
    clusters = [{"metric": m, "average": c, "rank": int(r)} for m, (c, r) in found.items()]
    whole = {"origin": ORIGIN.split(",")[0], "tasks": document, "standings": clusters, "p": matrix.tolist()}
    pathlib.Path(out).write_text(json.dumps(whole) + "\n")


def tasks_of(data, result):
    """Compares the tasks of an experiment with mt-metrics-eval: values with its correlations, weights and
    averages with its task sets."""
    tasks = its_tasks()
    found = json.loads(pathlib.Path(result).read_text())
    domains = [line.split()[0] for line in (data.dir / "documents" / "zh-en.docs").read_text().splitlines()]
    by = {"none": "none", "segment": "item", "system": "sys"}
    results, worst, n = [], 0.0, 0
    for t in found["tasks"]:
        level = "sys" if t["level"] == "system" else "seg"
        function = t["label"].split(", ")[2 if t["domain"] else 1].split()[0]
        task = tasks.Task("wmt22", "zh-en", domain=t["domain"] or None, level=level, human=False, avg_by=by[t["group"]], corr_fcn=function)
        keep = [i for i, d in enumerate(domains) if not t["domain"] or d == t["domain"]]
        of = lambda scores: [[scores[s][i] for i in keep] for s in data.systems]
        gold, ranks = of(data.gold), {}
        for e in t["entries"]:
            label = next(m for m in data.metrics if m.rsplit("-", 1)[0] == e["setting"]["metric"])
            metric, g = of(data.scores(label)), gold
            if level == "sys":
                g, metric = [[np.mean(row)] for row in g], [[np.mean(row)] for row in metric]
                own = data.dir / "metric-scores" / "zh-en" / f"{label}.sys.score"
                if own.exists() and not t["domain"]:
                    metric = [read(own)[s] for s in data.systems]
            c = stats.Correlation(len(data.systems), sum(g, []), sum(metric, []))
            want = c.Pearson(task.avg_by)[0] if function == "pearson" else c.Kendall(task.avg_by, "b")[0]
            worst, n = max(worst, abs(want - e["value"])), n + 1
            ranks[e["setting"]["metric"]] = (e["value"], e["rank"])
        results.append(tasks.TaskResults(task, (ranks, np.array([]), None, None)))
    print(f"values of {len(results)} tasks, {n} in all: {worst:.2g} apart at most")
    assert worst < 1e-9, worst
    whole = tasks.TaskSetResults(results)
    weights = whole.AssignWeights(["test_set", "lang", "domain", "level", "human", "avg_by", "corr_fcn"])
    total = sum(t["weight"] for t in found["tasks"])
    apart = max(abs(w - t["weight"] / total) for w, t in zip(weights, found["tasks"]))
    print(f"weights: {apart:.2g} apart at most")
    assert apart < 1e-12, apart
    for name, want in ("average_rank", whole.AverageRanks(weights)), ("average", whole.AverageCorrs(weights)):
        got = {s["setting"]["metric"]: s[name] for s in found["standings"]}
        assert set(got) == set(want), (got, want)
        apart = max(abs(got[m] - want[m]) for m in want)
        print(f"{name} of {len(got)} metrics: {apart:.2g} apart at most")
        assert apart < 1e-9, apart


def speed(data, files):
    def per_resample(k, *args, **kw):
        def run(n):
            start = time.perf_counter()
            stats.PermutationSigDiff(*args, n, **kw)
            return time.perf_counter() - start
        run(1)
        few = run(1)
        return (run(1 + k) - few) / k

    measured = [json.loads(pathlib.Path(f).read_text()) for f in files if os.path.exists(f)]
    a, b = PAIRS[0]
    x, y = data.correlation(b), data.correlation(a)
    start = time.perf_counter()
    stats.KendallWithTiesOpt(x.gold_scores, x.metric_scores, "acc23", x.num_sys, "item", 1.0)
    calibration = time.perf_counter() - start
    its = {
        "PERM-BOTH, Kendall, flattened": per_resample(60, x, y, scipy.stats.kendalltau, "none"),
        "PERM-BOTH, Kendall, by item (its scipy function)": per_resample(1, x, y, scipy.stats.kendalltau, "item"),
        "PERM-BOTH, Kendall, by item (its own function)": per_resample(4, x, y, stats.KendallVariants, "item", variant="b"),
        "acc23 with tie calibration": calibration,
    }
    goals = [10, 300, 300, 30]
    print("per resample of both metrics, or per metric; mt-metrics-eval on one core, few resamples")
    for (name, seconds), goal in zip(its.items(), goals):
        ours = [m[name.split(" (")[0]] for m in measured]
        line = f"{name}: {seconds * 1e3:.3g} ms, Refract {ours[0] * 1e3:.3g} ms on one core: {seconds / ours[0]:.0f}× (goal {goal}×)"
        if len(ours) > 1:
            line += f"; on two cores {ours[0] / ours[1]:.2f}× more"
        print(line)


if __name__ == "__main__":
    command, root, *rest = sys.argv[1:]
    data = Data(root)
    if command == "values":
        values(data, *rest)
    elif command == "pvalues":
        p_values(data, *rest)
    elif command == "tasks":
        tasks_of(data, *rest)
    elif command == "averages":
        averages(data, *rest)
    else:
        speed(data, rest)

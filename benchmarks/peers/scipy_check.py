"""Writes random vectors and SciPy's values for them, for a Go test to check.

    pip install scipy==1.17.1 numpy
    python benchmarks/peers/scipy_check.py vectors.json
    REFRACT_SCIPY_VECTORS=$PWD/vectors.json go test -run TestSciPyVectors -v ./benchmarks/correlate

With mt_metrics_eval on PYTHONPATH (a checkout of google-research/mt-metrics-eval) the file also holds tables
with missing gold scores and the values of its grouping rules; without it a note says that they are missing.
"""

import json
import math
import sys
import warnings

import numpy as np
import scipy
import scipy.stats

try:
    from mt_metrics_eval import stats as mtme
except ImportError:
    mtme = None

SEED = 20240607
SIZES = [2, 3, 4, 5, 7, 8, 9, 16, 33, 100, 127, 128, 129, 257, 1000, 1875, 5000]

# Each makes a vector of n numbers.
SHAPES = {
    "normal": lambda r, n: r.standard_normal(n),
    "uniform": lambda r, n: r.random(n),
    "binary": lambda r, n: r.integers(0, 2, n).astype(float),
    "few ties": lambda r, n: r.integers(0, 4 * n + 1, n).astype(float),
    "many ties": lambda r, n: r.integers(0, 6, n).astype(float),
    "mqm": lambda r, n: -np.minimum(25, r.poisson(1.5, n) + 0.1 * r.integers(0, 3, n)) * (r.random(n) < 0.6),
    "one outlier": lambda r, n: np.where(np.arange(n) == r.integers(n), 1e6, 3.25),
    "constant": lambda r, n: np.full(n, r.standard_normal()),
    "offset 1e6": lambda r, n: 1e6 + r.standard_normal(n),
    "offset 1e12": lambda r, n: 1e12 + r.standard_normal(n),
    "offset -1e15": lambda r, n: -1e15 + r.integers(-20, 20, n),
    "tiny": lambda r, n: 1e-250 * r.standard_normal(n),
    "huge": lambda r, n: 1e250 * r.standard_normal(n),
    "many magnitudes": lambda r, n: r.choice([-1.0, 1.0], n) * np.exp(40 * r.standard_normal(n)),
    "ascending": lambda r, n: np.arange(n, dtype=float),
    "signed zeros": lambda r, n: r.choice([-0.0, 0.0, 1.0, -1.0], n),
}

# Each makes a partner of x, for correlations other than those near 0.
PARTNERS = {
    "same": lambda r, x: x.copy(),
    "negated": lambda r, x: -x,
    "shuffled": lambda r, x: r.permutation(x),
    "noisy": lambda r, x: x + np.std(x / max(np.abs(x).max(), 1e-300)) * np.abs(x).max() * r.standard_normal(len(x)),
    "coarse": lambda r, x: np.round(scipy.stats.rankdata(x) / 3),
}


def number(v):
    """A JSON number, or null for one that is undefined."""
    v = float(v)
    return None if math.isnan(v) else v


def vector_case(name, x, y):
    return {
        "name": name,
        "x": x.tolist(),
        "y": y.tolist(),
        "kendall": number(scipy.stats.kendalltau(x, y, variant="b").statistic),
        "spearman": number(scipy.stats.spearmanr(x, y).statistic),
        "pearson": number(scipy.stats.pearsonr(x, y).statistic),
    }


def vector_cases(rng):
    shapes = list(SHAPES)
    for n in SIZES:
        for i, shape in enumerate(shapes):
            x = SHAPES[shape](rng, n)
            others = shapes if n < 200 else [shapes[(i + 1 + n) % len(shapes)], "mqm"]
            for other in others:
                yield vector_case(f"{shape} / {other}, n={n}", x, SHAPES[other](rng, n))
            for partner, make in PARTNERS.items():
                if n < 200 or (i + n) % 3 == 0:
                    yield vector_case(f"{shape} / {partner}, n={n}", x, make(rng, x))


def table_cases(rng):
    """Tables by segment, then system; mt_metrics_eval wants system first."""
    for segments, systems in [(1, 1), (1, 5), (5, 1), (2, 2), (4, 3), (10, 6), (60, 14), (300, 8)]:
        for missing in (0, 0.2, 0.7, 1):
            gold = SHAPES["mqm"](rng, segments * systems).reshape(segments, systems)
            metric = SHAPES[str(rng.choice(["normal", "many ties", "binary"]))](rng, segments * systems)
            metric = metric.reshape(segments, systems)
            absent = rng.random((segments, systems)) < missing
            rows = [[None if a else float(g) for g, a in zip(*r)] for r in zip(gold, absent)]
            flat_gold = [rows[i][k] for k in range(systems) for i in range(segments)]
            flat_metric = metric.T.reshape(-1).tolist()
            expected = []
            for group, by in (("none", "none"), ("segment", "item"), ("system", "sys")):
                for statistic in ("Kendall", "Spearman", "Pearson"):
                    correlation = mtme.Correlation(systems, flat_gold, flat_metric)
                    # Without missing scores mt_metrics_eval does not skip a
                    # vector of one element, and SciPy refuses it.
                    correlation.none_count = 1
                    value, _, count = getattr(correlation, statistic)(average_by=by)
                    expected.append({
                        "statistic": statistic.lower(), "group": group,
                        "value": number(value) if count else None, "groups": int(count),
                    })
            judged = [s for s in range(systems) if not absent[:, s].all()]
            agree, pairs = mtme.Agreement(
                [math.fsum(gold[~absent[:, s], s]) / (~absent[:, s]).sum() for s in judged],
                [math.fsum(metric[~absent[:, s], s]) / (~absent[:, s]).sum() for s in judged])
            expected.append({
                "statistic": "accuracy", "group": "none",
                "value": float(agree / pairs) if pairs else None, "groups": len(judged),
            })
            yield {
                "name": f"{segments} x {systems}, {missing} missing",
                "segments": segments, "systems": systems,
                "gold": [g for r in rows for g in r],
                "metric": metric.reshape(-1).tolist(),
                "expected": expected,
            }


def quantile_cases(rng):
    for n in (1, 2, 3, 10, 999, 1000):
        values = np.sort(rng.standard_normal(n))
        for q in (0.0, 0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 1.0):
            yield {"values": values.tolist(), "q": q, "want": float(np.quantile(values, q))}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scipy_check.py OUTPUT.json")
    rng = np.random.default_rng(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = {
            "scipy": scipy.__version__,
            "numpy": np.__version__,
            "vectors": list(vector_cases(rng)),
            "quantiles": list(quantile_cases(rng)),
            "tables": list(table_cases(rng)) if mtme else [],
        }
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(document, f, allow_nan=False)
    print(f"SciPy {scipy.__version__}: {len(document['vectors'])} pairs of vectors, "
          f"{len(document['quantiles'])} quantiles, {len(document['tables'])} tables", file=sys.stderr)
    if not mtme:
        print("note: mt_metrics_eval is not importable, so that the tables are left out", file=sys.stderr)


if __name__ == "__main__":
    main()

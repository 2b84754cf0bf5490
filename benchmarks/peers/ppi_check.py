"""Writes random judgements and scores, and ppi_py's intervals of the mean, for a Go test to check.

    pip install ppi-python==0.2.3
    python benchmarks/peers/ppi_check.py ppi.json
    REFRACT_PPI_VECTORS=$PWD/ppi.json go test -run TestLikePPIPy -v ./benchmarks/significance
"""

import json
import sys

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate


def main():
    rng = np.random.default_rng(20240607)
    cases = []
    for judged in (2, 6, 30, 200):
        for rest in (1, 40, 2000):
            for correlation in (-0.7, 0, 0.3, 0.95):
                for scale in (0.2, 1, 25):  # of the scores: the weight is clipped above, too
                    truth = rng.standard_normal(judged + rest)
                    noise = rng.standard_normal(judged + rest)
                    scores = 3 + scale * (correlation * truth + np.sqrt(1 - correlation**2) * noise)
                    y, f, u = np.round(4 * truth[:judged] - 2), scores[:judged], scores[judged:]
                    if len(set(y)) < 2:
                        continue
                    for weight in (None, 0, 0.4, 1):
                        low, high = ppi_mean_ci(y, f, u, alpha=0.05, lam=weight)
                        value = ppi_mean_pointestimate(y, f, u, lam=weight)
                        numbers = {"value": value, "low": low, "high": high}
                        cases.append({
                            "human": list(y), "metric": list(f), "rest": list(u), "confidence": 0.95, "weight": weight,
                            **{name: float(np.squeeze(v)) for name, v in numbers.items()},
                        })
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(cases, f, allow_nan=False)
    print(f"ppi_py: {len(cases)} intervals", file=sys.stderr)


if __name__ == "__main__":
    main()

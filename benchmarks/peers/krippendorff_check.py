"""Writes random ratings and krippendorff's alpha of them, for a Go test to check.

    pip install krippendorff==0.9.0
    python benchmarks/peers/krippendorff_check.py alpha.json
    REFRACT_KRIPPENDORFF_VECTORS=$PWD/alpha.json go test -run TestKrippendorffVectors -v ./benchmarks/correlate
"""

import json
import sys

import krippendorff
import numpy as np

SHAPES = {
    "likert": lambda r, n: r.integers(1, 6, n).astype(float),
    "mqm": lambda r, n: -np.minimum(25, r.poisson(1.5, n) + 0.1 * r.integers(0, 3, n)),
    "continuous": lambda r, n: r.normal(70, 20, n),
}


def number(v):
    return None if np.isnan(v) else float(v)


def main():
    rng = np.random.default_rng(20240607)
    cases = []
    for shape in SHAPES.values():
        for raters in (2, 3, 5):
            for units in (2, 8, 60, 400):
                for missing in (0, 0.3, 0.7):
                    truth = shape(rng, units)
                    ratings = np.where(rng.random((raters, units)) < 0.6, truth, shape(rng, raters * units).reshape(raters, units))
                    ratings[rng.random(ratings.shape) < missing] = np.nan
                    shared = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
                    if len(set(shared[~np.isnan(shared)])) < 2:
                        continue  # an error there, and undefined in Refract
                    alpha = {level: number(krippendorff.alpha(ratings, level_of_measurement=level)) for level in ("interval", "ordinal")}
                    cases.append({"ratings": [[number(v) for v in r] for r in ratings], **alpha})
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(cases, f, allow_nan=False)
    print(f"krippendorff: {len(cases)} tables of ratings", file=sys.stderr)


if __name__ == "__main__":
    main()

package significance

import (
	"context"
	"math"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// bootstrap resamples both tables over the same units.
func bootstrap(ctx context.Context, t paired) (Result, error) {
	var seen [2]float64
	var values [2][]float64
	for i, p := range []*correlate.Pairs{t.a, t.b} {
		of, resampled, err := correlate.Bootstrap{Resamples: t.Resamples, Seed: t.Seed, Units: t.Units}.Resample(ctx, t.Measure, p)
		if seen[i], values[i] = of.Value, resampled; err != nil {
			return Result{}, err
		}
		if math.IsNaN(seen[i]) {
			return Result{Delta: math.NaN(), P: math.NaN()}, nil
		}
	}
	res, notLarger, notSmaller := Result{Delta: seen[0] - seen[1]}, 0, 0
	for i, v := range values[0] {
		if d := v - values[1][i]; !math.IsNaN(d) {
			res.Resamples++
			if d <= 0 {
				notLarger++
			}
			if d >= 0 {
				notSmaller++
			}
		}
	}
	if res.P = share(notLarger, res.Resamples); !t.OneSided {
		res.P = min(1, 2*share(min(notLarger, notSmaller), res.Resamples))
	}
	return res, nil
}

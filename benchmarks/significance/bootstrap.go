package significance

import (
	"context"
	"math"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/numeric"
)

// bootstrap resamples both tables over the same units.
func bootstrap(ctx context.Context, t paired) (Result, error) {
	var seen [2]float64
	var values [2]correlate.Resamples
	for i, p := range []*correlate.Pairs{t.a, t.b} {
		of, resampled, err := correlate.Bootstrap{Resamples: t.Resamples, Seed: t.Seed, Units: t.Units}.Resample(ctx, t.Measure, p)
		if seen[i], values[i] = of.Value, resampled; err != nil {
			return Result{}, err
		}
	}
	return Bootstrapped(seen[0], seen[1], values[0], values[1], t.Options), nil
}

// Bootstrapped is MethodBootstrap's test of two measures, from those of resamples that drew
// the same units for both. The Cells of the result are left to the caller.
func Bootstrapped(a, b float64, resampledA, resampledB correlate.Resamples, o Options) Result {
	res, notLarger, notSmaller := Result{Delta: a - b, P: math.NaN()}, 0, 0
	if math.IsNaN(res.Delta) {
		return res
	}
	differences := resampledA.Less(resampledB)
	for _, d := range differences.Values {
		if !math.IsNaN(d) {
			res.Resamples++
			if d <= 0 {
				notLarger++
			}
			if d >= 0 {
				notSmaller++
			}
			if o.Draws {
				res.Draws = append(res.Draws, d-res.Delta)
			}
		}
	}
	if differences.Units < 2 {
		return res
	}
	if res.P = numeric.ShrinkTail(share(notLarger, res.Resamples), differences.Units); !o.OneSided {
		res.P = min(1, 2*numeric.ShrinkTail(share(min(notLarger, notSmaller), res.Resamples), differences.Units))
	}
	return res
}

package significance

import (
	"context"
	"math"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

func bootstrap(ctx context.Context, t paired) (Result, error) {
	first, err := t.Of(t.a)
	if err != nil {
		return Result{}, err
	}
	second, err := t.Of(t.b)
	if err != nil {
		return Result{}, err
	}
	res := Result{Delta: first.Value - second.Value, P: math.NaN()}
	if math.IsNaN(res.Delta) {
		return res, nil
	}
	drawing := correlate.NewBootstrap(correlate.BootstrapOptions{Resamples: t.Resamples, Seed: t.Seed, Units: t.Units})
	x, err := drawing.Resample(ctx, t.Measure, t.a)
	if err != nil {
		return Result{}, err
	}
	y, err := drawing.Resample(ctx, t.Measure, t.b)
	if err != nil {
		return Result{}, err
	}
	notLarger := 0
	for i := range x {
		difference := x[i] - y[i]
		if math.IsNaN(difference) {
			continue
		}
		res.Resamples++
		if difference <= 0 {
			notLarger++
		}
	}
	res.P = share(notLarger, res.Resamples)
	return res, nil
}

package significance

import (
	"context"
	"fmt"
	"math"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// Bootstrap tests whether the measure of table a is larger than that of b by
// the paired bootstrap (Koehn, 2004, "Statistical Significance Tests for
// Machine Translation Evaluation"): both tables are resampled over the same
// segments, and the p-value is the share of resamples in which a is not larger.
// The table seen counts as one more of these, so that the p-value is never 0.
// It never stops early. Resamples in which one of the two is undefined are left
// out.
func Bootstrap(ctx context.Context, a, b *correlate.Pairs, m correlate.Measure, o Options) (Result, error) {
	fail := func(err error) (Result, error) {
		return Result{}, fmt.Errorf("%v of %v: %w", MethodBootstrap, m, err)
	}
	if err := o.check(); err != nil {
		return fail(err)
	}
	p, q, cells, err := both(a, b, m)
	if err != nil {
		return fail(err)
	}
	first, err := m.Of(p)
	if err != nil {
		return fail(err)
	}
	second, err := m.Of(q)
	if err != nil {
		return fail(err)
	}
	res := Result{Delta: first.Value - second.Value, P: math.NaN(), Cells: cells}
	if math.IsNaN(res.Delta) {
		return res, nil
	}
	drawing := correlate.NewBootstrap(correlate.BootstrapOptions{Resamples: o.Resamples, Confidence: 0.95, Seed: o.Seed})
	x, err := drawing.Resample(ctx, m, p)
	if err != nil {
		return Result{}, err
	}
	y, err := drawing.Resample(ctx, m, q)
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
	res.P = float64(notLarger+1) / float64(res.Resamples+1)
	return res, nil
}

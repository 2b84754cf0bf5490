package significance

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// randomization exchanges units such as documents between two metrics: all scores of all
// systems together, so that no score mixes both.
func randomization(ctx context.Context, t paired) (Result, error) {
	seen := t.Over(t.Rows(t.a)).Value - t.Over(t.Rows(t.b)).Value
	if math.IsNaN(seen) {
		return Result{Delta: seen, P: seen}, nil
	}
	for _, p := range []**correlate.Pairs{&t.a, &t.b} {
		base := (*p).Under()
		standardize(base)
		var err error
		if *p, err = (*p).Remade(base); err != nil {
			return Result{}, err
		}
	}
	unit, err := t.Units.OfRows(t.a)
	if err != nil {
		return Result{}, err
	}
	x := t.Rows(t.a)
	ex := correlate.NewExchange(x, t.Rows(t.b), t.Measure, unit.OfElements(x, t.a), int(slices.Max(unit))+1)
	res, err := exchangeTest(ctx, ex, t.Options)
	res.Delta = seen
	return res, err
}

// coins tosses a coin for each of n units.
func coins(random *rand.PCG, n int) []uint64 {
	out := make([]uint64, (n+63)/64)
	for i := range out {
		out[i] = random.Uint64()
	}
	return out
}

package significance

import (
	"context"
	"math/rand/v2"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// drawer fills in the differences of resamples, each with its own random numbers. It is for
// one goroutine.
type drawer func(random []rand.PCG, differences []float64)

// share is the p-value for a number of resamples among those drawn. The observed table
// counts as one more, so that it is never 0 (Phipson and Smyth, 2010, "Permutation P-values
// Should Never Be Zero").
func share(large, drawn int) float64 { return float64(large+1) / float64(drawn+1) }

// resample fills in the p-value of the observed difference, and the number of resamples
// drawn: all of them, or whole blocks until the share of differences that are as large is
// clearly small or large. Drawers take this many resamples together.
func (res *Result) resample(ctx context.Context, o Options, together int, newDrawer func() drawer) error {
	block := o.Block
	if block == 0 {
		block = o.Resamples
	}
	seen, large := res.Delta, 0
	differences := make([]float64, block)
	var drawers []drawer // kept from block to block
	for res.Resamples < o.Resamples {
		drawn := differences[:min(block, o.Resamples-res.Resamples)]
		used := 0
		next := func() drawer {
			if used++; used > len(drawers) {
				drawers = append(drawers, newDrawer())
			}
			return drawers[used-1]
		}
		if err := resampleBlock(ctx, o.Seed, res.Resamples, drawn, together, next); err != nil {
			return err
		}
		for _, d := range drawn {
			if o.asLarge(d, seen) {
				large++
			}
		}
		if o.Draws {
			res.Draws = append(res.Draws, drawn...)
		}
		res.Resamples += len(drawn)
		if p := float64(large) / float64(res.Resamples); len(drawn) == o.Block && (p < surelySmall || p > surelyLarge) {
			break
		}
	}
	res.P = share(large, res.Resamples)
	return nil
}

// resampleBlock fills in the differences of a block of resamples, starting with the number
// first. It calls next for each goroutine.
func resampleBlock(ctx context.Context, seed uint64, first int, differences []float64, together int, next func() drawer) error {
	return correlate.Blocks(ctx, len(differences), together, func() func(from, to int) {
		draw, random := next(), make([]rand.PCG, together)
		return func(from, to int) {
			for i := range to - from {
				correlate.SeedResample(&random[i], seed, first+from+i)
			}
			draw(random[:to-from], differences[from:to])
		}
	})
}

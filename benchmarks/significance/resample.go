package significance

import (
	"context"
	"math/rand/v2"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// drawer returns the difference in a resample with its own random numbers. It is for one
// goroutine.
type drawer func(random *rand.PCG) float64

// share is the p-value for a number of resamples among those drawn. The observed table
// counts as one more, so that it is never 0 (Phipson and Smyth, 2010, "Permutation P-values
// Should Never Be Zero").
func share(large, drawn int) float64 { return float64(large+1) / float64(drawn+1) }

// resample fills in the p-value of the observed difference, and the number of resamples
// drawn: all of them, or whole blocks until the share of differences that are as large is
// clearly small or large.
func (res *Result) resample(ctx context.Context, o Options, newDrawer func() drawer) error {
	const together = 8
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
		err := correlate.Blocks(ctx, len(drawn), together, func() func(from, to int) {
			if used++; used > len(drawers) {
				drawers = append(drawers, newDrawer())
			}
			draw, random, first := drawers[used-1], new(rand.PCG), res.Resamples
			return func(from, to int) {
				for i := from; i < to; i++ {
					correlate.SeedResample(random, o.Seed, first+i)
					drawn[i] = draw(random)
				}
			}
		})
		if err != nil {
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

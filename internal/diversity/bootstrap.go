package diversity

import (
	"context"
	"math"
	"math/rand/v2"
)

// Bootstrap is the setting of percentile bootstrap intervals (Efron, 1979) of
// a mean over segments. Without resamples there are none.
type Bootstrap struct {
	Resamples int
	Seed      uint64
	// Ends returns the percentiles of resampled means between which the confidence lies.
	Ends func(means []float64) (low, high float64)
}

// interval returns the ends of the interval of the mean, NaN where there is
// none. Equal settings and values give equal bytes.
func (b Bootstrap) interval(ctx context.Context, values []float64) (low, high float64, err error) {
	if b.Resamples < 1 || len(values) == 0 {
		return math.NaN(), math.NaN(), ctx.Err()
	}
	random := rand.New(rand.NewPCG(b.Seed, 0))
	n := uint64(len(values))
	means := make([]float64, b.Resamples)
	for r := range means {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		var sum float64
		for range values {
			sum += values[random.Uint64N(n)]
		}
		means[r] = sum / float64(n)
	}
	low, high = b.Ends(means)
	return low, high, nil
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)) // NaN of none
}

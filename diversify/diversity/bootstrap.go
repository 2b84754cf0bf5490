package diversity

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// Bootstrap is the setting of percentile bootstrap intervals (Efron, 1979) of
// a mean over segments. Without resamples there are none.
type Bootstrap struct {
	Resamples  int     // at most [correlate.MaxResamples]
	Confidence float64 // inside (0, 1), such as 0.95
	Seed       uint64
}

// interval returns the ends of the interval of the mean, NaN where there is
// none. Equal settings and values give equal bytes.
func (b Bootstrap) interval(ctx context.Context, values []float64) (low, high float64, err error) {
	if b.Resamples < 1 || len(values) == 0 {
		return math.NaN(), math.NaN(), ctx.Err()
	}
	if b.Resamples > correlate.MaxResamples {
		return 0, 0, fmt.Errorf("%d resamples: want %d at most", b.Resamples, correlate.MaxResamples)
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
	ends := correlate.Percentiles(means, b.Confidence)
	return ends.Low, ends.High, nil
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)) // NaN of none
}

package correlate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The mean of the estimates is the share that is saved, and 0 for a metric that is worth nothing.
func TestShareSaved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, correlation := range []float64{-.4, 0, .3, .7} {
		mean, runs := 0.0, 4000.0
		for range int(runs) {
			x, y := make([]float64, 60), make([]float64, 60)
			for i := range x {
				x[i] = random.NormFloat64()
				y[i] = correlation*x[i] + math.Sqrt(1-correlation*correlation)*random.NormFloat64()
			}
			mean += shareSaved(Pearson(x, y), 60) / runs
		}
		if want := correlation * math.Abs(correlation); math.Abs(mean-want) > .006 {
			t.Errorf("correlation %v: mean %.4f, want %.4f", correlation, mean, want)
		}
	}
}

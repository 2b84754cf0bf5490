package publish

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The expected values come from R's binom.test.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{46, 50, 0.8077, 0.9778}, {2, 50, 0.0049, 0.1371}, {0, 10, 0, 0.3085}, {10, 10, 0.6915, 1}, {5, 10, 0.1871, 0.8129}} {
		low, high := ClopperPearson(c.k, c.n)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// A scripted judge with known error rates is run 250 times; the interval contains the true
// share in 92 to 98 % of the runs.
func TestEstimateCovers(t *testing.T) {
	for _, c := range []struct {
		sens, wrong, changed float64
		planted, good, n     int
	}{
		{0.9, 0.04, 0.10, 50, 50, 2000}, {0.8, 0.05, 0.15, 50, 50, 1000}, {0.9, 0.02, 0.2, 100, 100, 2000}, {0.6, 0.1, 0.25, 50, 50, 3000}, {0.95, 0.05, 0.08, 100, 200, 3000},
		// A judge that flags no good text, and few changes.
		{0.9, 0, 0.02, 50, 50, 2000}, {0.8, 0, 0.02, 50, 50, 2000}, {0.95, 0, 0.02, 50, 50, 1000}, {0.9, 0, 0.05, 50, 50, 2000}, {0.9, 0.01, 0.02, 50, 50, 2000}, {0.7, 0, 0.03, 50, 50, 1500},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		binomial := func(n int, p float64) (k int) {
			for range n {
				if rng.Float64() < p {
					k++
				}
			}
			return k
		}
		covered, below, above := 0, 0, 0
		for range 250 {
			changed := binomial(c.n, c.changed)
			found, alarms := binomial(changed, c.sens), binomial(c.n-changed, c.wrong)
			e := EstimateChanged(Share{binomial(c.planted, c.sens), c.planted}, Share{binomial(c.good, c.wrong), c.good}, Share{found + alarms, c.n})
			q := c.changed*c.sens + (1-c.changed)*c.wrong
			switch truth := c.changed * (1 - c.sens) / (1 - q); {
			case e.Chance:
				t.Fatalf("%+v is no better than chance", c)
			case truth < e.Low:
				below++
			case truth > e.High:
				above++
			default:
				covered++
			}
		}
		t.Logf("%+v: covered %d, truth below %d, above %d", c, covered, below, above)
		if covered < 230 || covered > 245 {
			t.Errorf("%+v: the interval has the truth in %d of 250 runs, want 230 to 245 (below %d, above %d)", c, covered, below, above)
		}
	}
}

func TestNoBetterThanChance(t *testing.T) {
	for _, c := range []struct{ caught, good, flagged Share }{
		{Share{25, 50}, Share{24, 50}, Share{500, 1000}}, {Share{50, 50}, Share{50, 50}, Share{1000, 1000}}, {Share{0, 50}, Share{0, 50}, Share{0, 1000}},
		{Share{50, 50}, Share{}, Share{1000, 1000}}, {Share{0, 0}, Share{0, 0}, Share{1, 10}}, {Share{6, 10}, Share{3, 10}, Share{10, 100}},
	} {
		e := EstimateChanged(c.caught, c.good, c.flagged)
		assert.True(t, e.Chance, "%+v: %+v", c, e)
	}
	if e := EstimateChanged(Share{46, 50}, Share{}, Share{100, 1000}); e.Chance || e.High < 0.01 || e.High > 0.04 {
		t.Errorf("an upper bound: %+v", e)
	}
}

package significance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// twoMetrics are two metrics of the same cells, the first of which is the nearer to
// the gold scores. Scores of a segment depend on each other, in the gold scores and
// in what the metrics miss.
func twoMetrics(random *rand.Rand, segments, systems int, first, second float64) (a, b *correlate.Pairs) {
	a, b = correlate.NewPairs(segments, systems), correlate.NewPairs(segments, systems)
	for seg := range segments {
		hard, missed, other := random.NormFloat64(), random.NormFloat64(), random.NormFloat64()
		for sys := range systems {
			i := a.Index(seg, sys)
			gold := hard + 0.3*float64(sys) + random.NormFloat64()
			a.Gold[i], b.Gold[i] = gold, gold
			a.Metric[i] = gold + first*(missed+random.NormFloat64())
			b.Metric[i] = gold + second*(other+random.NormFloat64())
			a.GoldOK[i], b.GoldOK[i] = true, true
			a.MetricOK[i], b.MetricOK[i] = true, true
		}
	}
	return a, b
}

// A simulation. A pilot tells how many segments a comparison of two metrics needs;
// with so many, a test that draws or exchanges segments sees their difference as often
// as it was promised to.
func TestPowerOfMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	const pilot, systems, runs, resamples, alpha, share = 500, 5, 300, 99, 0.05, 0.8
	for _, m := range []correlate.Measure{
		{Statistic: correlate.StatPearson},
		{Statistic: correlate.StatKendall, Grouping: correlate.BySegment},
	} {
		random := rand.New(rand.NewPCG(6, 6))
		value := func(p *correlate.Pairs) float64 {
			v, err := m.Of(p)
			if err != nil {
				t.Fatal(err)
			}
			return v.Value
		}
		a, b := twoMetrics(random, 20000, systems, 0.6, 0.8)
		difference := value(a) - value(b)
		a, b = twoMetrics(random, pilot, systems, 0.6, 0.8)
		drawing := correlate.NewBootstrap(correlate.BootstrapOptions{Resamples: 400, Seed: 1})
		x, err := drawing.Resample(t.Context(), m, a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := drawing.Resample(t.Context(), m, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			x[i] -= y[i]
		}
		units, err := drawing.Units.Drawn(a)
		if err != nil {
			t.Fatal(err)
		}
		power := Power{Error: StandardError(x), Units: units, Critical: OneSided(alpha), Share: share}
		segments := int(power.Needed(difference))
		if at := power.Smallest(segments); math.Abs(at/difference-1) > 0.02 {
			t.Errorf("%v: %d segments show a difference of %.4f, want %.4f", m, segments, at, difference)
		}
		seen := func(method Method, first, second float64) float64 {
			n := 0.
			for range runs {
				a, b := twoMetrics(random, segments, systems, first, second)
				res, err := Compare(t.Context(), method, a, b, m, Options{Resamples: resamples, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				if res.P <= alpha {
					n++
				}
			}
			return n / runs
		}
		for _, method := range []Method{MethodBootstrap, MethodRandomization} {
			if found := seen(method, 0.6, 0.8); math.Abs(found-share) > 0.07 {
				t.Errorf("%v: of %d segments, %v sees the difference in %.3f of the runs, want %v", m, segments, method, found, share)
			}
		}
		if found := seen(MethodBootstrap, 0.7, 0.7); math.Abs(found-alpha) > 0.035 {
			t.Errorf("%v: of %d segments, no difference is seen as one in %.3f of the runs, want %v", m, segments, found, alpha)
		}
	}
}

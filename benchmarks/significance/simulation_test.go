package significance

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// equals draws two metrics that agree with the gold scores equally well, for documents of
// four segments. The systems of a segment share a metric's errors and, with byDocument, so
// do the segments of a document.
func equals(random *rand.Rand, segments, systems int, byDocument bool) (a, b *correlate.Pairs, documents correlate.Units) {
	a, b = correlate.NewPairs(segments, systems), correlate.NewPairs(segments, systems)
	b.Gold = a.Gold
	var shared [2]float64
	for s := range segments {
		if documents = append(documents, int32(s/4)); s%4 == 0 && byDocument {
			shared = [2]float64{random.NormFloat64(), random.NormFloat64()}
		}
		hard, missed := random.NormFloat64(), [2]float64{random.NormFloat64(), random.NormFloat64()}
		for system := range systems {
			i := a.Index(s, system)
			a.Gold[i] = math.Round(2*(hard+float64(system)/5+random.NormFloat64())) / 2
			a.GoldOK[i], b.GoldOK[i], a.MetricOK[i], b.MetricOK[i] = true, true, true, true
			for k, p := range []*correlate.Pairs{a, b} {
				p.Metric[i] = a.Gold[i] + shared[k]*(1+float64(system)/10) + missed[k] + random.NormFloat64()
			}
		}
	}
	return a, b, documents
}

// TestEqualMetrics counts how often the default test finds a difference between two equally
// good metrics at 0.05. REFRACT_SIMULATE is the number of pairs of metrics for each case,
// such as 2000; then the test also logs the shares for the other tests, on a tenth as many
// pairs. For the bootstrap it is the share of intervals without 0.
func TestEqualMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	runs, _ := strconv.Atoi(cmp.Or(os.Getenv("REFRACT_SIMULATE"), "30"))
	const systems, resamples, alpha = 6, 199, 0.05
	methods := []Method{MethodAuto}
	long := runs > 30
	if long {
		methods = append(methods, MethodBootstrap, MethodPermBoth, MethodPermPairs, MethodWilliams)
	}
	for _, c := range []struct {
		correlate.Measure
		level correlate.Level
	}{
		{correlate.Measure{Statistic: correlate.StatPearson}, 0},
		{correlate.Measure{Statistic: correlate.StatKendall}, 0},
		{correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySegment}, 0},
		{correlate.Measure{Statistic: correlate.StatAcc23, Grouping: correlate.BySegment}, 0},
		{correlate.Measure{Statistic: correlate.StatPearson, Grouping: correlate.BySystem}, 0},
		{correlate.Measure{Statistic: correlate.StatPearson}, correlate.SystemLevel},
		{correlate.Measure{Statistic: correlate.StatAccuracy}, correlate.SystemLevel},
	} {
		for _, segments := range []int{40, 120} {
			for _, byDocument := range []bool{false, true} {
				if !long && segments > 40 {
					continue
				}
				random := rand.New(rand.NewPCG(1, 2))
				found := map[Method]int{}
				takes := func(m Method) bool { _, err := m.For(c.Measure, c.level); return err == nil }
				for run := range runs {
					a, b, units := equals(random, segments, systems, byDocument)
					if !byDocument {
						units = nil
					}
					if c.level == correlate.SystemLevel && c.Statistic != correlate.StatAccuracy {
						a, b = meanOf(t, a), meanOf(t, b)
					}
					for _, method := range methods {
						if !takes(method) || method != methods[0] && run >= runs/10 {
							continue
						}
						res, err := Compare(t.Context(), method, a, b, c.Measure, Options{Resamples: resamples, Seed: random.Uint64(), Units: units})
						if err != nil {
							t.Fatal(err)
						}
						if res.P <= alpha {
							found[method]++
						}
					}
				}
				for i, method := range methods {
					if of := runs; takes(method) {
						if i > 0 {
							of /= 10
						}
						t.Logf("%v, %v level, %d segments, documents %v: %v %.1f %%", c.Measure, c.level, segments, byDocument, method, 100*float64(found[method])/float64(of))
					}
				}
				// 6 % of many runs; 7 of 30 have a probability of 0.001.
				if n := found[methods[0]]; long && float64(n) > 0.065*float64(runs) || !long && n > 6 {
					t.Errorf("%v, %v level, %d segments, documents %v: different in %d of %d", c.Measure, c.level, segments, byDocument, n, runs)
				}
			}
		}
	}
}

// meanOf returns the table of the systems' means.
func meanOf(t *testing.T, p *correlate.Pairs) *correlate.Pairs {
	t.Helper()
	means, err := p.Means(make([]int32, p.Segments), 1)
	if err != nil {
		t.Fatal(err)
	}
	return means
}

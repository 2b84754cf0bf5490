package significance

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

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

// stable draws two metrics with stable errors for systems, whose scores of segments are noisy,
// as people's are. With correlations of 0, both have the same true agreement under every
// statistic, because one sees the systems as the other one does from the other end; with
// chance, people see no difference between systems.
func stable(random *rand.Rand, segments, systems int, human float64, correlations [2]float64, chance bool) (a, b *correlate.Pairs) {
	standard := func(x []float64) []float64 {
		mean, squares := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for i := range x {
			x[i] -= mean
			squares += x[i] * x[i] / float64(len(x))
		}
		for i := range x {
			x[i] /= math.Sqrt(squares)
		}
		return x
	}
	quality, means := make([]float64, systems), [2][]float64{}
	for i := range systems / 2 {
		quality[i] = random.NormFloat64()
		quality[systems-1-i] = -quality[i]
	}
	standard(quality)
	for k, r := range correlations {
		errors := make([]float64, systems)
		for i := range errors {
			errors[i] = random.NormFloat64()
		}
		if r == 0 {
			r = 0.7
		}
		dot := 0.0
		for i, e := range standard(errors) {
			dot += e * quality[i] / float64(systems)
		}
		for i := range errors {
			errors[i] -= dot * quality[i]
		}
		for i, e := range standard(errors) {
			means[k] = append(means[k], r*quality[i]+math.Sqrt(1-r*r)*e)
		}
	}
	if correlations[1] == 0 {
		means[1] = slices.Clone(means[0])
		slices.Reverse(means[1])
		for i := range means[1] {
			means[1][i] *= -1
		}
	}
	a, b = correlate.NewPairs(segments, systems), correlate.NewPairs(segments, systems)
	b.Gold = a.Gold
	for s := range segments {
		hard, missed := random.NormFloat64(), [2]float64{random.NormFloat64(), random.NormFloat64()}
		for system := range systems {
			i := a.Index(s, system)
			a.GoldOK[i], b.GoldOK[i], a.MetricOK[i], b.MetricOK[i] = true, true, true, true
			if a.Gold[i] = hard + human*random.NormFloat64(); !chance {
				a.Gold[i] += quality[system] / 2
			}
			for k, p := range []*correlate.Pairs{a, b} {
				p.Metric[i] = hard/2 + missed[k] + means[k][system]/2 + random.NormFloat64()
			}
		}
	}
	return a, b
}

// simulated is the number of runs that REFRACT_SIMULATE asks for, such as 2000, or a few.
func simulatedRuns(t *testing.T) (runs int, long bool) {
	if testing.Short() {
		t.Skip("a simulation of seconds")
	}
	runs, _ = strconv.Atoi(cmp.Or(os.Getenv("REFRACT_SIMULATE"), "30"))
	return runs, runs > 30
}

// world is a way to draw two metrics, with the measures that are tested there.
type world struct {
	name     string
	draw     func(random *rand.Rand) (a, b *correlate.Pairs, units correlate.Units)
	level    correlate.Level
	measures []correlate.Measure
	differ   bool // the metrics are not equally good
	long     bool // only if many runs are asked for
}

func worlds() (out []world) {
	for _, segments := range []int{40, 120} {
		for _, byDocument := range []bool{false, true} {
			name := strconv.Itoa(segments) + " segments"
			if byDocument {
				name += " of documents"
			}
			out = append(out, world{name, func(random *rand.Rand) (a, b *correlate.Pairs, units correlate.Units) {
				if a, b, units = equals(random, segments, 6, byDocument); !byDocument {
					units = nil
				}
				return a, b, units
			}, correlate.SegmentLevel, []correlate.Measure{
				{Statistic: correlate.StatPearson}, {Statistic: correlate.StatKendall}, {Statistic: correlate.StatKendall, Grouping: correlate.BySegment},
				{Statistic: correlate.StatAcc23, Grouping: correlate.BySegment}, {Statistic: correlate.StatPearson, Grouping: correlate.BySystem},
			}, false, segments > 40})
		}
	}
	for _, c := range []struct {
		name              string
		segments, systems int
		human             float64
		correlations      [2]float64
		chance, long      bool
	}{
		{"8 systems, human noise 1", 150, 8, 1, [2]float64{}, false, true},
		{"8 systems, human noise 3", 150, 8, 3, [2]float64{}, false, false},
		{"14 systems, human noise 1", 400, 14, 1, [2]float64{}, false, true},
		{"8 systems that people do not tell apart", 150, 8, 1, [2]float64{}, true, false},
		{"8 systems, human noise 1, correlations .95 and .1", 150, 8, 1, [2]float64{.95, .1}, false, false},
		{"8 systems, human noise 3, correlations .95 and .1", 150, 8, 3, [2]float64{.95, .1}, false, true},
	} {
		out = append(out, world{c.name, func(random *rand.Rand) (a, b *correlate.Pairs, units correlate.Units) {
			a, b = stable(random, c.segments, c.systems, c.human, c.correlations, c.chance)
			return a, b, nil
		}, correlate.SystemLevel, []correlate.Measure{
			{Statistic: correlate.StatPearson}, {Statistic: correlate.StatKendall}, {Statistic: correlate.StatAccuracy}, {Statistic: correlate.StatSoftAccuracy},
		}, c.correlations[1] != 0, c.long})
	}
	return out
}

// TestEqualMetrics counts how often the default test finds a difference between two equally
// good metrics at 0.05, and between two that are not. REFRACT_SIMULATE is the number of pairs
// of metrics for each case, such as 2000; then the test also logs the shares for the other
// tests, on a tenth as many pairs, as soft accuracy has them at all times. For the bootstrap it
// is the share of intervals without 0.
func TestEqualMetrics(t *testing.T) {
	runs, long := simulatedRuns(t)
	const resamples, alpha = 199, 0.05
	methods := []Method{MethodAuto}
	if long {
		methods = append(methods, MethodBootstrap, MethodPermBoth, MethodPermPairs, MethodWilliams)
	}
	for _, w := range worlds() {
		if w.long && !long {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			for _, m := range w.measures {
				random := rand.New(rand.NewPCG(1, 2))
				found, of := map[Method]int{}, map[Method]int{}
				for run := range runs {
					if m.Statistic == correlate.StatSoftAccuracy && run >= max(10, runs/10) {
						break
					}
					a, b, units := w.draw(random)
					if w.level == correlate.SystemLevel && !m.Statistic.OfSystems() {
						a, b = meanOf(t, a), meanOf(t, b)
					}
					for _, method := range methods {
						if _, err := method.For(m, w.level); err != nil || method != methods[0] && run >= runs/10 {
							continue
						}
						res, err := Compare(t.Context(), method, a, b, m, Options{Resamples: resamples, Seed: random.Uint64(), Units: units})
						require.NoError(t, err)
						if of[method]++; res.P <= alpha {
							found[method]++
						}
					}
				}
				for _, method := range methods {
					if of[method] > 0 {
						t.Logf("%v, %s: %v %.1f %% of %d", m, w.name, method, 100*float64(found[method])/float64(of[method]), of[method])
					}
				}
				n, all := float64(found[methods[0]]), float64(of[methods[0]])
				// 7 % of many runs; 7 of 30 have a probability of 0.001.
				if most := cmp.Or(map[bool]float64{true: 0.07 * all}[all > 200], 0.07*all+5); !w.differ && n > most || w.differ && n < all/2 {
					t.Errorf("%v, %s: different in %v of %v", m, w.name, n, all)
				}
			}
		})
	}
}

// TestIntervals counts how often intervals from 28 documents of unequal length cover the value
// of 8,000 documents, for as many runs as TestEqualMetrics has.
func TestIntervals(t *testing.T) {
	runs, long := simulatedRuns(t)
	bias := []float64{0.3, -0.2, 0.1, -0.4, 0.2, 0.3, -0.3, 0}
	draw := func(random *rand.Rand, documents int) (p *correlate.Pairs, units correlate.Units) {
		var gold, metric []float64
		for d := range documents {
			hard, missed := random.NormFloat64(), random.NormFloat64()
			for range 1 + min(30, int(math.Exp(1.6+0.6*random.NormFloat64()))) {
				units = append(units, int32(d))
				easy := random.NormFloat64()
				for system, b := range bias {
					quality := float64(system)/4 + 0.3*hard + 0.5*easy
					gold = append(gold, math.Round(2*(quality+random.NormFloat64()))/2)
					metric = append(metric, quality+b+0.3*missed+random.NormFloat64())
				}
			}
		}
		p = correlate.NewPairs(len(units), len(bias))
		copy(p.Gold, gold)
		copy(p.Metric, metric)
		for i := range p.GoldOK {
			p.GoldOK[i], p.MetricOK[i] = true, true
		}
		return p, units
	}
	all, _ := draw(rand.New(rand.NewPCG(3, 4)), 8000)
	for _, c := range []struct {
		correlate.Measure
		level correlate.Level
		least float64
	}{
		{correlate.Measure{Statistic: correlate.StatKendall}, correlate.SegmentLevel, 0.93},
		{correlate.Measure{Statistic: correlate.StatPearson}, correlate.SegmentLevel, 0.93},
		{correlate.Measure{Statistic: correlate.StatKendall, Grouping: correlate.BySegment}, correlate.SegmentLevel, 0.93},
		{correlate.Measure{Statistic: correlate.StatPearson}, correlate.SystemLevel, 0.92},
	} {
		at := func(p *correlate.Pairs) *correlate.Pairs {
			if c.level == correlate.SystemLevel {
				return meanOf(t, p)
			}
			return p
		}
		truth, err := c.Of(at(all))
		require.NoError(t, err)
		random, covered := rand.New(rand.NewPCG(1, 2)), 0
		for range runs {
			p, units := draw(random, 28)
			_, values, err := correlate.Bootstrap{Resamples: 499, Seed: random.Uint64(), Units: units}.Resample(t.Context(), c.Measure, at(p))
			require.NoError(t, err)
			if iv := values.Interval(0.95); iv.Contains(truth.Value) {
				covered++
			}
		}
		share := float64(covered) / float64(runs)
		t.Logf("%v, %v level: %.3f of %d cover %.3f", c.Measure, c.level, share, runs, truth.Value)
		if long && share < c.least-2*math.Sqrt(0.06/float64(runs)) || covered < runs*3/4 {
			t.Errorf("%v, %v level: %d of %d intervals cover", c.Measure, c.level, covered, runs)
		}
	}
}

// meanOf returns the table of the systems' means.
func meanOf(t *testing.T, p *correlate.Pairs) *correlate.Pairs {
	t.Helper()
	means, err := p.Means(make([]int32, p.Segments), 1)
	require.NoError(t, err)
	return means
}

package significance

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

func near(a, b, tolerance float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return math.Abs(a-b) <= tolerance
}

// simulated returns tables of several metrics, the first the best one, with the same gold
// scores, which have many ties like MQM.
func simulated(segments, systems int, noise ...float64) []*correlate.Pairs {
	random := rand.New(rand.NewPCG(1, 2))
	gold := make([]float64, segments*systems)
	for i := range gold {
		gold[i] = -math.Round(math.Abs(random.NormFloat64()*random.NormFloat64())*40) / 10
	}
	var out []*correlate.Pairs
	for _, n := range noise {
		p := correlate.NewPairs(segments, systems)
		for i := range gold {
			p.Gold[i], p.GoldOK[i] = gold[i], true
			p.Metric[i], p.MetricOK[i] = 10+gold[i]+n*random.NormFloat64()+float64(i%systems)/10, true
		}
		out = append(out, p)
	}
	return out
}

// drawTables returns two small tables with ties and missing scores, and the same gold
// scores.
func drawTables(t *rapid.T, segments, systems int) (a, b *correlate.Pairs) {
	n := segments * systems
	few := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 1, 2, -1}), n, n)
	// Not all floats: nearly constant vectors have no digits to compare.
	many := rapid.SliceOfN(rapid.Map(rapid.IntRange(-999, 999), func(i int) float64 { return float64(i) / 64 }), n, n)
	mask := rapid.SliceOfN(rapid.SampledFrom([]bool{true, true, true, false}), n, n)
	gold, goldOK := few.Draw(t, "gold"), mask.Draw(t, "gold mask")
	table := func(name string) *correlate.Pairs {
		scores := few
		if rapid.Bool().Draw(t, name+" continuous") {
			scores = many
		}
		return &correlate.Pairs{Segments: segments, Systems: systems, Gold: gold, GoldOK: goldOK,
			Metric: scores.Draw(t, name), MetricOK: mask.Draw(t, name+" mask")}
	}
	return table("first"), table("second")
}

// prepared returns the vectors of two tables that PERM-BOTH exchanges.
func prepared(a, b *correlate.Pairs, m correlate.Measure) (x, y []correlate.Row, cells int, err error) {
	t, cells, err := pair(a, b, m, Options{})
	if err != nil {
		return nil, nil, 0, err
	}
	x, y = t.standardRows()
	return x, y, cells, nil
}

func TestExchangeEqualsPlain(t *testing.T) {
	groupings := []correlate.Grouping{correlate.None, correlate.BySegment, correlate.BySystem}
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SampledFrom([]int{1, 2, 9, 60, 90}).Draw(t, "segments")
		systems := rapid.SampledFrom([]int{1, 2, 3, 12, 14, 45}).Draw(t, "systems")
		if segments*systems > 1000 {
			segments = 5
		}
		a, b := drawTables(t, segments, systems)
		m := correlate.Measure{
			Statistic:     correlate.Statistic(rapid.IntRange(0, len(correlate.StatisticNames())-1).Draw(t, "statistic")),
			Grouping:      rapid.SampledFrom(groupings).Draw(t, "group"),
			ZeroUndefined: rapid.Bool().Draw(t, "zero"),
		}
		if m.Statistic.OfSystems() {
			m.Grouping = correlate.None
		}
		x, y, _, err := prepared(a, b, m)
		if err != nil {
			t.Skip(err)
		}
		var unit []int32 // of each element
		units := 0
		if rapid.Bool().Draw(t, "units") {
			units, unit = rapid.IntRange(1, 9).Draw(t, "number of units"), []int32{}
			whole := rapid.Bool().Draw(t, "whole vectors")
			for k, r := range x {
				for range r.Gold {
					if !whole {
						k = len(unit) * len(unit)
					}
					unit = append(unit, int32(k%units))
				}
			}
		}
		ex := correlate.NewExchange(x, y, m, unit, units)
		defined := func(v float64) float64 {
			if math.IsNaN(v) {
				return 0
			}
			return v
		}
		var bounds [][2]float64
		exact := ex.Worker(func(low, high float64) bool { bounds = append(bounds, [2]float64{low, high}); return false })
		random := rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)
		for k := range 20 {
			mask := make([]uint64, (ex.Units()+63)/64)
			for i := range mask {
				if k > 0 { // the first exchanges nothing
					mask[i] = random.Uint64()
				}
			}
			v, w := ex.Values(mask)
			x, y := exchanged(x, y, unit, mask)
			if slices.ContainsFunc(slices.Concat(x, y), func(r correlate.Row) bool {
				spread := slices.Max(append(r.Metric, -9e9)) - slices.Min(append(r.Metric, 9e9))
				return spread > 0 && spread < 1e-9
			}) {
				continue // equal except for rounding, which a correlation makes large
			}
			v2, w2 := m.Over(x).Value, m.Over(y).Value
			if !near(v, v2, 1e-9) || !near(w, w2, 1e-9) {
				t.Fatalf("%v, exchange %d: %v and %v, want %v and %v", m, k, v, w, v2, w2)
			}
			want := defined(v) - defined(w)
			require.Equal(t, want, exact(mask), "%v, exchange %d: a difference of", m, k)
			for _, b := range bounds {
				if !(b[0] <= want && want <= b[1]) {
					t.Fatalf("%v, exchange %d: a difference of %v, outside %v to %v", m, k, want, b[0], b[1])
				}
			}
			bounds = nil
		}
	})
}

// A test of a statistic of ranks within groups is the same for scores in other units, which standardizing
// must not untie; and metrics of equal value differ by nothing, however many thresholds they have.
func TestExchangesKeepTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const segments, systems = 24, 5
		draw := func(name string, most int) []float64 {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, most), func(v int) float64 { return float64(v) }), segments*systems, segments*systems).Draw(t, name)
		}
		gold, first, second := draw("gold", 5), draw("first", 9), draw("second", 9)
		of := make([]int32, segments)
		for i := range of {
			of[i] = int32(i / 3)
		}
		factor, plus := float64(rapid.IntRange(1, 7).Draw(t, "factor")), float64(rapid.IntRange(0, 9).Draw(t, "plus"))
		m := correlate.Measure{Grouping: correlate.BySegment, Statistic: rapid.SampledFrom(
			[]correlate.Statistic{correlate.StatKendall, correlate.StatSpearman, correlate.StatPlainAcc23, correlate.StatAcc23}).Draw(t, "statistic")}
		documents, by := rapid.Bool().Draw(t, "means of documents"), 10.0
		if m.Statistic == correlate.StatAcc23 {
			documents, by = false, 1 // other differences are rounded before the test
		}
		table := func(scores []float64, factor, plus float64) *correlate.Pairs {
			p := correlate.NewPairs(segments, systems)
			for i, v := range scores {
				p.Gold[i], p.Metric[i], p.GoldOK[i], p.MetricOK[i] = gold[i], (factor*v+plus)/by, true, true
			}
			if !documents {
				return p
			}
			means, err := p.Means(of, segments/3)
			require.NoError(t, err)
			return means
		}
		p := func(factor, plus float64) Result {
			res, err := Compare(t.Context(), MethodRandomization, table(first, factor, plus), table(second, factor, plus), m, Options{Resamples: 99, Seed: 1})
			require.NoError(t, err)
			return res
		}
		one, other := p(1, 0), p(factor, plus)
		assert.InDelta(t, one.Delta, other.Delta, 1e-9)
		assert.Equal(t, one.P, other.P, "%v by %v and %v", m, factor, plus)
		if one.Delta == 0 {
			assert.Equal(t, 1.0, one.P)
		}
	})
}

// exchanged returns two metrics' vectors after an exchange, computed one by one.
func exchanged(a, b []correlate.Row, unit []int32, mask []uint64) (x, y []correlate.Row) {
	at := 0
	for r := range a {
		v, w := slices.Clone(a[r].Metric), slices.Clone(b[r].Metric)
		for i := range v {
			bit := at
			if unit != nil {
				bit = int(unit[at])
			}
			if mask[bit/64]>>(bit%64)&1 == 1 {
				v[i], w[i] = w[i], v[i]
			}
			at++
		}
		x, y = append(x, correlate.Row{Gold: a[r].Gold, Metric: v}), append(y, correlate.Row{Gold: a[r].Gold, Metric: w})
	}
	return x, y
}

// The number pins the random draws: if it changes, every p-value ever printed changes.
func TestReproducible(t *testing.T) {
	tables := simulated(60, 7, 3, 3.3, 4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want *Comparison
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		got, err := Matrix(t.Context(), MethodPermBoth, tables, correlate.Measure{}, 0.05, Options{Resamples: 250, Block: 50, Seed: 9})
		require.NoError(t, err)
		if want == nil {
			want = got
		}
		assert.True(t, reflect.DeepEqual(got, want), "on %d processors: %+v, want %+v", procs, got, want)
	}
	for method, want := range map[Method][2]float64{
		MethodPermBoth: {21, 31}, MethodPermPairs: {1, 1}, MethodBootstrap: {24.103211899578284, 48.20642379915657}, MethodRandomization: {13, 34},
	} {
		for i, oneSided := range []bool{true, false} {
			res, err := Compare(t.Context(), method, tables[0], tables[1], correlate.Measure{}, Options{Resamples: 250, Seed: 2, OneSided: oneSided})
			if err != nil || !near(res.P, want[i]/251, 1e-15) {
				t.Errorf("%v, one-sided %v: %v, %v, want %v", method, oneSided, res.P*251, err, want[i])
			}
		}
	}
}

// Values from SciPy's Student distribution in Williams' formula.
func TestWilliams(t *testing.T) {
	for _, c := range []struct {
		r1, r2, r12 float64
		n           int
		want        float64
	}{
		{0.5, 0.45, 0.8, 100, 0.1847048325272245},
		{0.58, 0.43, 0.61, 26250, 3.644076643493694e-244},
		{0.31, 0.3, 0.2, 500, 0.4250856901688861},
		{0.99, 0.95, 0.97, 14, 0.0010340614202283141},
	} {
		got := williamsP(c.r1, c.r2, c.r12, c.n)
		if turned := williamsP(c.r2, c.r1, c.r12, c.n); math.Abs(got-c.want) > 1e-9*c.want || math.Abs(turned-(1-c.want)) > 1e-9 {
			t.Errorf("%+v: %.15g, turned around %v", c, got, turned)
		}
	}
}

func TestStopsEarly(t *testing.T) {
	tables := simulated(60, 7, 2, 9)
	m := correlate.Measure{Grouping: correlate.BySegment}
	for _, c := range []struct {
		a, b, block, drawn int
	}{{0, 1, 100, 100}, {1, 0, 100, 100}, {0, 1, 0, 350}, {0, 1, 400, 350}} {
		res, err := Compare(t.Context(), MethodPermBoth, tables[c.a], tables[c.b], m, Options{Resamples: 350, Block: c.block})
		if err != nil || res.Resamples != c.drawn {
			t.Errorf("blocks of %d: %+v, %v, want %d resamples", c.block, res, err, c.drawn)
		}
	}
}

func TestCancel(t *testing.T) {
	tables := simulated(300, 10, 3, 3.1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for _, method := range []Method{MethodPermBoth, MethodBootstrap} {
		_, err := Compare(ctx, method, tables[0], tables[1], correlate.Measure{}, Options{Resamples: 1_000_000})
		assert.ErrorIs(t, err, context.DeadlineExceeded, method)
	}
}

func TestRefusals(t *testing.T) {
	for method, m := range map[Method]correlate.Measure{
		MethodPermPairs: {Statistic: correlate.StatPearson}, MethodWilliams: {Grouping: correlate.BySegment},
		MethodRandomization: {Statistic: correlate.StatAccuracy},
	} {
		_, err := method.For(m, correlate.SegmentLevel)
		assert.Error(t, err, "%v takes %v", method, m)
	}
	tables := simulated(5, 3, 1, 2)
	regraded := simulated(5, 3, 1)[0]
	regraded.Gold[3]++
	for name, c := range map[string]struct {
		b         *correlate.Pairs
		resamples int
	}{
		"shapes":             {simulated(6, 3, 1)[0], 1},
		"gold scores":        {regraded, 1},
		"no cell":            {correlate.NewPairs(5, 3), 1},
		"resamples":          {tables[1], 0},
		"too many resamples": {tables[1], correlate.MaxResamples + 1},
	} {
		_, err := Compare(t.Context(), MethodPermBoth, tables[0], c.b, correlate.Measure{}, Options{Resamples: c.resamples})
		assert.Error(t, err, "%s: no error", name)
	}
}

func TestLevels(t *testing.T) {
	tables := simulated(60, 6, 2, 8)
	tables[1].MetricOK[7] = false // the means cover the common cells
	of := make([]int32, 60)
	for i := range of {
		of[i] = int32(i / 3)
	}
	var documents []*correlate.Pairs
	for _, p := range tables {
		d, err := p.Means(of, 20)
		require.NoError(t, err)
		documents = append(documents, d)
	}
	res, err := Compare(t.Context(), MethodPermBoth, documents[0], documents[1], correlate.Measure{Statistic: correlate.StatKendall}, Options{Resamples: 100})
	assert.True(t, err == nil && res.P < 0.1 && res.Cells == 359, "%+v, %v", res, err)
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005, nan, 0.9})
	want := []float64{0.04, 0.09, 0.09, 0.025, nan, 0.9}
	assert.True(t, slices.EqualFunc(got, want, func(a, b float64) bool { return near(a, b, 1e-12) }), "%v, want %v", got, want)
}

func TestClusters(t *testing.T) {
	// The third is worse than the first, the fourth only than the third.
	p := [][]float64{
		{0, 0.2, 0.01, 0.01},
		{0, 0, 0.3, 0.2},
		{0, 0, 0, 0.04},
		{0, 0, 0, 0},
	}
	got := clusters(p, 0.05)
	assert.True(t, slices.Equal(got, []int{1, 1, 2, 3}), "%v", got)
	got = clusters(p, 0.02)
	assert.True(t, slices.Equal(got, []int{1, 1, 2, 2}), "at 0.02: %v", got)
}

func TestAverageRanks(t *testing.T) {
	got := AverageRanks([][]int{{1, 1, 2}, {1, 2, 0}})
	assert.True(t, got[0] == 1 && got[1] == 1.5 && math.IsNaN(got[2]), "%v", got)
}

func TestMatrix(t *testing.T) {
	tables := simulated(150, 6, 9, 1, 9.05, 1)
	constant := correlate.NewPairs(150, 6)
	copy(constant.Gold, tables[0].Gold)
	for i := range constant.Gold {
		constant.GoldOK[i], constant.MetricOK[i] = true, true
	}
	c, err := Matrix(t.Context(), MethodPermBoth, append(tables, constant), correlate.Measure{}, 0.05, Options{Resamples: 200, Block: 100, Seed: 1})
	require.NoError(t, err)
	if c.Ranks[1] != 1 || c.Ranks[3] != 1 || c.Ranks[0] != 2 || c.Ranks[4] != 0 || c.Order[4] != 4 || !math.IsNaN(c.Values[4]) {
		t.Errorf("%+v", c)
	}
	if len(c.Tests) != 4 || c.Corrected[0][3] < c.Tests[0][3].P {
		t.Errorf("%+v", c.Tests)
	}
}

// A test of two tables has the direction of the common cells, even if each table over its
// own cells has the other direction.
func TestMatrixOrdersByCommonCells(t *testing.T) {
	gold := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	a, b := correlate.NewPairs(8, 1), correlate.NewPairs(8, 1)
	for i, g := range gold {
		a.Gold[i], a.GoldOK[i], b.Gold[i], b.GoldOK[i] = g, true, g, true
		a.MetricOK[i], b.MetricOK[i] = i < 6, true
	}
	a.Metric = []float64{1, 3, 2, 5, 4, 6, 0, 0}
	b.Metric = []float64{2, 1, 4, 3, 6, 5, 90, 99}
	c, err := Matrix(t.Context(), MethodPermBoth, []*correlate.Pairs{a, b}, correlate.Measure{Statistic: correlate.StatKendall}, 0.05, Options{Resamples: 200, Seed: 1})
	require.NoError(t, err)
	for i := range a.Metric { // a copy in which both have the same cells
		b.MetricOK[i] = a.MetricOK[i]
	}
	want, err := Compare(t.Context(), MethodPermBoth, a, b, correlate.Measure{Statistic: correlate.StatKendall}, Options{Resamples: 200, Seed: 1})
	if err != nil || want.Delta <= 0 {
		t.Fatal(want, err)
	}
	first := c.Tests[0][1]
	if c.Order[0] == 0 { // a is ahead over its own cells too
		t.Fatalf("values %v", c.Values)
	}
	if first.Delta != -want.Delta || first.P != want.P {
		t.Errorf("got %+v, want that of the other direction, %+v", first, want)
	}
}

package correlate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naiveCounts looks at every pair.
func naiveCounts(gold, metric []float64, epsilon float64) (c PairCounts) {
	for i := range gold {
		for j := range i {
			g, m := cmp.Compare(gold[i], gold[j]), cmp.Compare(metric[i], metric[j])
			if math.Abs(metric[i]-metric[j]) <= epsilon {
				m = 0
			}
			switch {
			case g == 0 && m == 0:
				c.TiedBoth++
			case g == 0:
				c.TiedGold++
			case m == 0:
				c.TiedMetric++
			case g == m:
				c.Concordant++
			default:
				c.Discordant++
			}
		}
	}
	return c
}

func TestCountPairsEqualsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, metric := drawVectors(t)
		got, want := CountPairs(gold, metric), naiveCounts(gold, metric, 0)
		require.Equal(t, want, got)
		if a, b := comparePairs(gold, metric), sortPairs(gold, metric); a != b {
			t.Fatalf("%+v one by one, %+v sorted", a, b)
		}
		if got := got.TauB(); !near(got, Kendall(gold, metric), 1e-14) {
			t.Fatalf("tau-b of the counts is %v, Kendall %v", got, Kendall(gold, metric))
		}
		distinct := func(x []float64) float64 {
			x = slices.Clone(x)
			slices.Sort(x)
			return float64(len(slices.Compact(x)))
		}
		n, m := float64(len(gold)), min(distinct(gold), distinct(metric))
		tauC := 2 * float64(want.Concordant-want.Discordant) / (n * n * (m - 1) / m)
		if m < 2 {
			tauC = nan
		}
		if got := kendallC(gold, metric); !near(got, tauC, 1e-14) {
			t.Fatalf("tau-c %v, want %v", got, tauC)
		}
	})
}

// naiveCalibration tries every threshold.
func naiveCalibration(rows []Row) Calibration {
	thresholds := []float64{0}
	for _, r := range rows {
		for i := range r.Metric {
			for j := range i {
				thresholds = append(thresholds, math.Abs(r.Metric[i]-r.Metric[j]))
			}
		}
	}
	slices.Sort(thresholds)
	best := Calibration{Acc23: math.NaN()}
	for _, epsilon := range thresholds {
		sum, n := 0.0, 0.0
		for _, r := range rows {
			if len(r.Gold) >= 2 {
				sum += naiveCounts(r.Gold, r.Metric, epsilon).Acc23()
				n++
			}
		}
		if v := sum / n; n > 0 && !(v <= best.Acc23+1e-12) {
			best = Calibration{v, epsilon}
		}
	}
	return best
}

func TestCalibrateEqualsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		scores := rapid.SampledFrom([]float64{0, 0, 1, 1.5, 2, 3, 1e-9, -1, -40, 1e12})
		if rapid.Bool().Draw(t, "few ties") {
			scores = rapid.Float64Range(-1, 1)
		}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			n := rapid.IntRange(0, 7).Draw(t, "elements")
			rows = append(rows, Row{
				Gold:   rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, -1, -5}), n, n).Draw(t, "gold"),
				Metric: rapid.SliceOfN(scores, n, n).Draw(t, "metric"),
			})
		}
		want := naiveCalibration(rows)
		got := Calibrate(rows)
		require.True(t, near(got.Acc23, want.Acc23, 1e-12) && got.Epsilon == want.Epsilon, "%+v, want %+v", got, want)
	})
}

func TestZeroUndefined(t *testing.T) {
	p := NewPairs(3, 3)
	for i := range p.Gold {
		p.Gold[i], p.Metric[i] = float64(i), float64(i)
		p.GoldOK[i], p.MetricOK[i] = true, true
	}
	for i := 3; i < 6; i++ {
		p.Metric[i] = 7 // constant in the second segment
	}
	p.GoldOK[6], p.GoldOK[7] = false, false // one cell of the third remains
	for _, c := range []struct {
		zero  bool
		value float64
		n     int
	}{{false, 1, 1}, {true, 0.5, 2}} {
		m := Measure{Statistic: StatPearson, Grouping: BySegment, ZeroUndefined: c.zero}
		res, err := m.Of(p)
		require.NoError(t, err)
		if !near(res.Value, c.value, 1e-15) || res.Groups != c.n || res.Dropped != 3-c.n {
			t.Errorf("zero %v: %+v, want %v over %d", c.zero, res, c.value, c.n)
		}
		rs, err := newResampler(p, p, m, nil)
		require.NoError(t, err)
		got := rs.weighted([]int32{1, 1, 1}, new(scratch))
		assert.True(t, near(got, c.value, 1e-15), "zero %v, resampled: %v, want %v", c.zero, got, c.value)
	}
}

func TestMeansAreResampledBySegment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawTable(t)
		groups := rapid.IntRange(1, 4).Draw(t, "groups")
		of := rapid.SliceOfN(rapid.Int32Range(0, int32(groups-1)), p.Segments, p.Segments).Draw(t, "of")
		weights := rapid.SliceOfN(rapid.Int32Range(0, 3), p.Segments, p.Segments).Draw(t, "weights")
		table, err := p.Means(of, groups)
		require.NoError(t, err)
		var many []int32
		for seg, w := range weights {
			many = append(many, slices.Repeat(of[seg:seg+1], int(w))...)
		}
		drawn, err := materialised(p, weights).Means(many, groups)
		require.NoError(t, err)
		if slices.Equal(slices.Compact(slices.Sorted(slices.Values(of))), slices.Sorted(slices.Values(of))) && len(of) == groups {
			// Each group is one segment, so it occurs as often as this one.
			rows := make([]int32, groups)
			for seg, group := range of {
				rows[group] = weights[seg]
			}
			drawn = materialised(table, rows)
		}
		for _, c := range choices {
			m := chosen(c.statistic, c.grouping)
			want, err := m.Of(drawn)
			require.NoError(t, err)
			rs, err := newResampler(table, table, m, nil)
			require.NoError(t, err)
			got := rs.weighted(weights, new(scratch))
			require.True(t, near(got, want.Value, 1e-9), "%v: %v, want %v", m, got, want.Value)
		}
	})
}

// Documents of one segment each have the same resamples as segments, whatever is drawn.
func TestMeansOfWholeUnits(t *testing.T) {
	p := simulated(40, 5)
	of := make([]int32, p.Segments)
	for i := range of {
		of[i] = int32(i*7) % 40
	}
	table, err := p.Means(of, 40)
	require.NoError(t, err)
	for _, units := range []Units{nil, of} {
		for _, c := range choices {
			b := Bootstrap{Resamples: 50, Seed: 1, Units: units}
			_, got, err := b.Resample(t.Context(), chosen(c.statistic, c.grouping), table)
			_, want, err2 := b.Resample(t.Context(), chosen(c.statistic, c.grouping), p)
			require.True(t, err == nil && err2 == nil, "%v %v", err, err2)
			for i, want := range want.Values {
				if got := got.Values[i]; !near(got, want, 1e-9) {
					t.Fatalf("%v by %v, resample %d: %v of documents, %v of segments", c.statistic, c.grouping, i, got, want)
				}
			}
		}
	}
}

func TestMeansRefusals(t *testing.T) {
	p := NewPairs(2, 2)
	for _, of := range [][]int32{{0}, {0, 2}, {-1, 0}, nil} {
		_, err := p.Means(of, 2)
		assert.Error(t, err, "groups %v were taken", of)
	}
}

func TestSoftAccuracyResamples(t *testing.T) {
	p := simulated(40, 4)
	weights := make([]int32, 40)
	for i := range weights {
		weights[i] = int32(i % 3)
	}
	want, err := Measure{Statistic: StatSoftAccuracy, Grouping: None}.Of(materialised(p, weights))
	require.NoError(t, err)
	assert.Equal(t, want.Value, mustResampler(p, StatSoftAccuracy, None).weighted(weights, new(scratch)))
}

func TestSoftAccuracyLeavesIncompleteSegmentsOut(t *testing.T) {
	p := simulated(40, 4)
	whole, err := Measure{Statistic: StatSoftAccuracy, Grouping: None}.Of(p)
	require.NoError(t, err)
	more := NewPairs(42, 5)
	for i := range p.Gold {
		at := more.Index(i/4, i%4)
		more.Gold[at], more.Metric[at] = p.Gold[i], p.Metric[i]
		more.GoldOK[at], more.MetricOK[at] = true, true
	}
	more.GoldOK[more.Index(41, 0)], more.MetricOK[more.Index(41, 0)] = true, true
	got, err := Measure{Statistic: StatSoftAccuracy, Grouping: None}.Of(more)
	require.NoError(t, err)
	if got.Value != whole.Value || got.Groups != 4 || got.N != 6 || got.Dropped != 1 {
		t.Errorf("%+v, want %v of 4 systems, without the last one and one cell", got, whole.Value)
	}
}

// The first exchanges of NumPy's default_rng(4), with which SPA was published.
func TestExchanges(t *testing.T) {
	random := NewNumPyRandom(4)
	for i, want := range []int{12187687, 15821855, 14787369, 8578652, 15777934, 16378651, 16278700, 1356203, 7608851, 10189739} {
		got := exchange(random)
		assert.Equal(t, uint8(want>>23), got, "bit %d is %d, numpy's number is %d of 2^24", i, got, want)
	}
}

// plainSoftPValues exchanges one by one, as mt-metrics-eval does.
func plainSoftPValues(scores [][]float64, order []int32) (out []uint16) {
	random := NewNumPyRandom(4)
	kept := make([][]bool, permutations)
	for p := range kept {
		for range order {
			kept[p] = append(kept[p], exchange(random) == 1)
		}
	}
	for i, x := range scores {
		for _, y := range scores[i+1:] {
			seen, size, count := 0.0, 0.0, uint16(0)
			for _, at := range order {
				seen += x[at] - y[at]
				size += math.Abs(x[at]) + math.Abs(y[at])
			}
			for _, kept := range kept {
				difference := 0.0
				for k, at := range order {
					if kept[k] {
						difference += x[at] - y[at]
					} else {
						difference -= x[at] - y[at]
					}
				}
				if difference >= seen-1e-12*size {
					count++
				}
			}
			out = append(out, count)
		}
	}
	return out
}

func TestSoftPValuesEqualPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems, segments := rapid.IntRange(2, 12).Draw(t, "systems"), rapid.IntRange(1, 70).Draw(t, "segments")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		unit := rapid.SampledFrom([]float64{1, 0.1, 1.0 / 3, 1e-5, math.Pi, 1e290, 1e-300, 5e-324}).Draw(t, "unit")
		offset := rapid.SampledFrom([]float64{0, 0, 100, 1e9}).Draw(t, "offset")
		values := rapid.SampledFrom([]int{1, 2, 4, 100, 1 << 40}).Draw(t, "values")
		rows := make([]Row, systems)
		for s := range rows {
			for i := range segments {
				v := unit * (offset + float64(r.IntN(values)))
				if s > 0 && r.IntN(3) > 0 {
					v = rows[s-1].Metric[i] // systems with much in common tie more often
				}
				rows[s].Metric = append(rows[s].Metric, v)
			}
		}
		order := make([]int32, rapid.IntRange(1, 100).Draw(t, "drawn"))
		for k := range order {
			order[k] = int32(r.IntN(segments))
		}
		slices.Sort(order)
		coins := newCoins()
		for _, of := range []int{len(order), 1 << 13} { // in half words, and in words
			scores := newSoftScores(rows, rowMetric).fit(of)
			require.Equal(t, plainSoftPValues(scores.of, order), scores.pValues(order, coins.masks(len(order))))
		}
	})
}

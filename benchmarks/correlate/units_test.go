package correlate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawn returns the table in which each unit occurs as often as weights say, with separate
// copies of a unit.
func drawn(p *Pairs, units Units, weights []int32) *Pairs {
	segments := make([]int32, p.Segments)
	for seg := range segments {
		segments[seg] = weights[units[seg]]
	}
	return materialised(p, segments)
}

// Resamples of documents equal tables with these documents; computing a block of resamples
// at once gives the same bits as computing each separately.
func TestUnitsEqualMaterialised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawTable(t)
		units, n := make(Units, p.Segments), 3
		for seg := range units {
			units[seg] = rapid.Int32Range(0, 2).Draw(t, "document")
		}
		if _, have, _ := units.ofCells(p); have < n {
			return
		}
		block := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(0, 4), n, n), 1, 20).Draw(t, "weights")
		var s scratch
		for _, c := range choices {
			m := chosen(c.statistic, c.grouping)
			rs, err := newResampler(p, p, m, units)
			require.NoError(t, err)
			got := make([]float64, len(block))
			rs.values(block, got, &s)
			for i, weights := range block {
				want, err := m.Of(drawn(p, units, weights))
				require.NoError(t, err)
				if !near(got[i], want.Value, 1e-12) {
					t.Fatalf("%v of %+v: %v, materialised %v", m, units, got[i], want.Value)
				}
			}
		}
	})
}

// Pairs are counted in integers: tau-b of a resample equals tau-b from the counts of all
// its pairs, to the bit.
func TestPairsOfBlocksEqualPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold, metric := drawVectors(t)
		units := rapid.IntRange(1, 5).Draw(t, "units")
		r := Row{Gold: gold, Metric: metric}
		for range gold {
			r.unit = append(r.unit, rapid.Int32Range(0, int32(units-1)).Draw(t, "unit"))
		}
		// Without the numbers of distinct scores, pairs are counted by unit if that is cheaper.
		classes, agree := rapid.Bool().Draw(t, "distinct scores"), rapid.Bool().Draw(t, "agreeing pairs")
		var counts []vectorCounts
		k := newPairsRow(r, newRanking(r.Gold), units, units, &pairsStatistic{classes: classes, agree: agree, value: func(c vectorCounts) float64 {
			counts = append(counts, c)
			return 0
		}})
		width := rapid.SampledFrom([]int{21, 32, 64}).Draw(t, "width")
		n := laneCapacity(width)
		weights := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(0, 3), units, units), 1, n).Draw(t, "weights")
		var s scratch
		s.block.pack(weights, width)
		k.values(&s.block, make([]float64, len(weights)), &s)
		for i, w := range weights {
			var x, y []float64
			for e, u := range r.unit {
				for range w[u] {
					x, y = append(x, gold[e]), append(y, metric[e])
				}
			}
			distinct := func(x []float64) int64 {
				x = slices.Clone(x)
				slices.Sort(x)
				return int64(len(slices.Compact(x)))
			}
			want := vectorCounts{naiveCounts(x, y, 0), int64(len(x)), distinct(x), distinct(y), distinct(metric) > distinct(gold)}
			if !classes {
				want.goldDistinct, want.metricDistinct = 0, 0
				counts[i].goldDistinct, counts[i].metricDistinct = 0, 0
			}
			if !classes && !agree { // pairs of which tau-b does not tell two of each kind apart
				more := want.TiedBoth - counts[i].TiedBoth
				want.Concordant, want.Discordant = want.Concordant-more/2, want.Discordant-more/2
				want.TiedGold, want.TiedMetric, want.TiedBoth = want.TiedGold+more, want.TiedMetric+more, counts[i].TiedBoth
			}
			require.Equal(t, want, counts[i], "resample %d", i)
		}
	})
}

// The pairs of units are the same if these are so large that their sums are moved in between.
func TestPairsOfLargeUnits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := Row{}
	for i := range 900 {
		r.Gold, r.Metric = append(r.Gold, float64(random.IntN(9))), append(r.Metric, float64(random.IntN(90)))
		r.unit = append(r.unit, int32(min(i%3, 1)))
	}
	var got vectorCounts
	k := newPairsRow(r, newRanking(r.Gold), 2, 2, &pairsStatistic{agree: true, value: func(c vectorCounts) float64 {
		got = c
		return 0
	}})
	require.NotNil(t, k.byUnit)
	var s scratch
	s.block.pack([][]int32{{1, 1}}, 64)
	k.values(&s.block, make([]float64, 1), &s)
	require.Equal(t, naiveCounts(r.Gold, r.Metric, 0), got.PairCounts)
}

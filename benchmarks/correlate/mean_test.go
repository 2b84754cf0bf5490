package correlate

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Means of systems are the rational means, rounded once, whatever the number of cells: those of
// the decimals, if all scores have few.
func TestMeansAreRational(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewPairs(rapid.IntRange(1, 40).Draw(t, "segments"), 3)
		score := rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Float64Range(-1e-8, 1e-8), rapid.Map(rapid.IntRange(0, 9), func(i int) float64 { return float64(i) / 10 }))
		if rapid.Bool().Draw(t, "decimals") {
			score = rapid.Map(rapid.IntRange(-9999, 9999), func(i int) float64 { return float64(i) / 1000 })
		}
		for i := range p.Gold {
			p.Gold[i], p.Metric[i] = score.Draw(t, "gold"), score.Draw(t, "metric")
			p.GoldOK[i], p.MetricOK[i] = rapid.IntRange(0, 4).Draw(t, "judged") > 0, true
		}
		goldOf, metricOf := rationalOf(p.Gold, p.GoldOK), rationalOf(p.Metric, p.GoldOK)
		gold, metric, cells := SystemMeans(p)
		for sys := range p.Systems {
			golds, metrics, n := new(big.Rat), new(big.Rat), int64(0)
			for seg := range len(p.Gold) / p.Systems {
				if i := p.Index(seg, sys); p.GoldOK[i] {
					golds.Add(golds, goldOf(p.Gold[i]))
					metrics.Add(metrics, metricOf(p.Metric[i]))
					n++
				}
			}
			if cells[sys] != int(n) {
				t.Fatalf("system %d has %d cells, want %d", sys, cells[sys], n)
			}
			if n == 0 {
				continue
			}
			wantGold, _ := golds.Quo(golds, big.NewRat(n, 1)).Float64()
			wantMetric, _ := metrics.Quo(metrics, big.NewRat(n, 1)).Float64()
			if gold[sys] != wantGold || metric[sys] != wantMetric {
				t.Fatalf("means of system %d are %v and %v, want %v and %v", sys, gold[sys], metric[sys], wantGold, wantMetric)
			}
		}
	})
}

// rationalOf returns what the scores stand for: decimals, if all that count have at most nine
// digits after the point, which scores of any kind may have by chance, and else what they are.
func rationalOf(scores []float64, ok []bool) func(float64) *big.Rat {
	for i, v := range scores {
		if _, digits, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), "."); ok[i] && len(digits) > 9 {
			return new(big.Rat).SetFloat64
		}
	}
	return func(v float64) *big.Rat {
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
		return r
	}
}

// The first parts of scores order systems only where their means do so too, also of scores that are
// equal but for their last digits.
func TestFirstPartsOrderAsMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewPairs(rapid.IntRange(2, 12).Draw(t, "segments"), 4)
		near := rapid.Float64Range(0, 1e-10).Draw(t, "how near")
		for i := range p.Gold {
			p.Gold[i], p.GoldOK[i], p.MetricOK[i] = float64(rapid.IntRange(0, 5).Draw(t, "gold")), true, true
			p.Metric[i] = float64(rapid.IntRange(0, 2).Draw(t, "metric"))/3 + near*rapid.Float64Range(0, 1).Draw(t, "more")
		}
		weights := rapid.SliceOfN(rapid.Int32Range(0, 4), p.Segments, p.Segments).Draw(t, "weights")
		unit := make([]int32, len(p.Gold))
		for i := range unit {
			unit[i] = int32(i / p.Systems)
		}
		r := newMeanRow(p, make([]int32, p.Segments), 1, unit, 4*int64(p.Segments))
		gold, metric, ok := r.ordered(weights, new(scratch))
		if !ok {
			return
		}
		means := r.ofSystems(weights, new(scratch))
		want, _ := PairwiseAccuracy(means.Gold, means.Metric)
		if got, _ := PairwiseAccuracy(gold, metric); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("accuracy %v by first parts %v, want %v by means %v", got, metric, want, means.Metric)
		}
	})
}

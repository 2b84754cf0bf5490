package correlate

import (
	"cmp"
	"math"
)

// PairwiseAccuracy returns the share of pairs of systems that the metric
// orders as the gold scores do, in [0, 1], and the number of pairs (Kocmi et
// al., 2021, "To Ship or Not to Ship", equation 1). The slices are aligned
// and hold one finite score per system.
//
// A pair tied in both agrees, a pair tied in one of the two does not: the
// rule of mt-metrics-eval. All pairs count. The value is NaN for fewer than
// two systems. It panics if the lengths differ.
func PairwiseAccuracy(gold, metric []float64) (value float64, pairs int) {
	checkLengths(gold, metric)
	agree := 0
	for i := range gold {
		for j := range i {
			if cmp.Compare(gold[i], gold[j]) == cmp.Compare(metric[i], metric[j]) {
				agree++
			}
			pairs++
		}
	}
	if pairs == 0 {
		return math.NaN(), 0
	}
	return float64(agree) / float64(pairs), pairs
}

// SystemMeans returns, per system, the mean gold and the mean metric score
// over the cells that have both, and the number of those cells. Both means
// are NaN where that number is 0.
//
// Taking both means over the same cells compares like with like where only a
// part of a system's segments was judged. The system scores that a metric
// published for all segments, judged or not, may differ.
func SystemMeans(p *Pairs) (gold, metric []float64, cells []int) {
	means := systemMeans(p)
	sums := means.sums(nil, new(scratch))
	gold, metric, cells = make([]float64, p.Systems), make([]float64, p.Systems), make([]int, p.Systems)
	for i := range cells {
		gold[i], metric[i], cells[i] = means.cell(sums, 0, i)
	}
	return gold, metric, cells
}

func systemMeans(p *Pairs) *meanRow {
	return newMeanRow(p, make([]int32, p.Segments), 1, nil, int64(p.Segments))
}

// systemPairs is a mean over pairs of systems that are drawn: a pair counts as
// often as both were, and the copies of a system are no pair.
type systemPairs []systemPair

type systemPair struct {
	first, second int32
	value         float64
}

// orderPairs says of each pair of systems whether the metric orders it as the
// gold scores do.
func orderPairs(p *Pairs) systemPairs {
	gold, metric, cells := SystemMeans(p)
	var out systemPairs
	for i := range gold {
		for j := range i {
			if cells[i] > 0 && cells[j] > 0 {
				agree, _ := PairwiseAccuracy([]float64{gold[i], gold[j]}, []float64{metric[i], metric[j]})
				out = append(out, systemPair{int32(i), int32(j), agree})
			}
		}
	}
	return out
}

// softPairs gives the soft agreement of each pair of systems.
func softPairs(rows []Row) systemPairs {
	var out systemPairs
	for i := range rows {
		for j := range i {
			if len(rows[i].unit) > 0 {
				pair := []Row{rows[j], rows[i]}
				out = append(out, systemPair{rows[j].unit[0], rows[i].unit[0], softAccuracy(pair)})
			}
		}
	}
	return out
}

func (all systemPairs) weighted(weights []int32, _ *scratch) float64 {
	var sum float64
	var n int64
	for _, p := range all {
		w := int64(weights[p.first]) * int64(weights[p.second])
		sum += float64(float64(w) * p.value)
		n += w
	}
	return sum / float64(n) // NaN without a pair
}

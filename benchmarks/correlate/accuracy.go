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
	row := newAccuracyRow(p, make([]int32, len(p.Gold)))
	sums := make([]systemSum, p.Systems)
	row.add(sums, nil)
	gold = make([]float64, p.Systems)
	metric = make([]float64, p.Systems)
	cells = make([]int, p.Systems)
	for i := range sums {
		gold[i], metric[i] = sums[i].means()
		cells[i] = int(sums[i].cells)
	}
	return gold, metric, cells
}

// systemSum adds up the scores of one system.
type systemSum struct {
	gold, metric exactSum
	cells        int64
}

// means returns NaN, NaN of no cells.
func (s *systemSum) means() (gold, metric float64) {
	n := float64(s.cells)
	return s.gold.value() / n, s.metric.value() / n
}

// exactSum is a sum with the rounding errors kept beside it (Neumaier, 1974).
// Systems with the same scores in another order then have the same mean, so
// that a tie between systems does not hang on the last digit.
type exactSum struct{ sum, rest float64 }

// add adds v, w times.
func (s *exactSum) add(v, w float64) {
	product := w * v
	s.rest += math.FMA(w, v, -product)
	total := s.sum + product
	if math.Abs(s.sum) >= math.Abs(product) {
		s.rest += (s.sum - total) + product
	} else {
		s.rest += (product - total) + s.sum
	}
	s.sum = total
}

func (s *exactSum) value() float64 { return s.sum + s.rest }

// accuracyRow holds the cells of a table that have both scores.
type accuracyRow struct {
	systems int
	cells   []accuracyCell
}

type accuracyCell struct {
	gold, metric float64
	unit, system int32
}

func newAccuracyRow(p *Pairs, unit []int32) *accuracyRow {
	row := &accuracyRow{systems: p.Systems}
	for i := range p.Gold {
		if p.paired(i) {
			row.cells = append(row.cells, accuracyCell{
				gold: p.Gold[i], metric: p.Metric[i],
				unit: unit[i], system: int32(i % p.Systems),
			})
		}
	}
	return row
}

// add adds the cells to the sums of their systems, each as many times as
// weights say of its unit, once where weights is nil.
func (a *accuracyRow) add(sums []systemSum, weights []int32) {
	w := int32(1)
	for i := range a.cells {
		c := &a.cells[i]
		if weights != nil {
			if w = weights[c.unit]; w == 0 {
				continue
			}
		}
		s := &sums[c.system]
		s.gold.add(c.gold, float64(w))
		s.metric.add(c.metric, float64(w))
		s.cells += int64(w)
	}
}

func (a *accuracyRow) weighted(weights []int32, s *scratch) float64 {
	sums := s.systemSums(a.systems)
	a.add(sums, weights)
	gold, metric := s.floats(a.systems, a.systems)
	n := 0
	for i := range sums {
		if sums[i].cells > 0 {
			gold[n], metric[n] = sums[i].means()
			n++
		}
	}
	value, _ := PairwiseAccuracy(gold[:n], metric[:n])
	return value
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

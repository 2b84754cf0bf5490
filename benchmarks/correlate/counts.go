package correlate

import "math"

// PairCounts says how two vectors order the pairs of their elements. Each
// pair of elements is counted in one field.
type PairCounts struct {
	Concordant, Discordant int64
	TiedGold               int64 // tied in the gold scores alone
	TiedMetric             int64 // tied in the metric scores alone
	TiedBoth               int64
}

// CountPairs counts the pairs of two aligned vectors of finite numbers. Two
// metric scores are tied where they are at most epsilon apart, two gold scores
// where they are equal. It takes O(n log n) time. It panics if the lengths
// differ or epsilon is negative or NaN.
func CountPairs(gold, metric []float64, epsilon float64) PairCounts {
	checkLengths(gold, metric)
	if !(epsilon >= 0) {
		panic("correlate: epsilon must be 0 or more")
	}
	row := newCountsRow(gold, metric, make([]int32, len(gold)), epsilon)
	return row.counts([]int32{1}, new(scratch)).PairCounts
}

// Pairs is the number of pairs counted.
func (c PairCounts) Pairs() int64 {
	return c.Concordant + c.Discordant + c.TiedGold + c.TiedMetric + c.TiedBoth
}

// TauB is Kendall's tau-b, NaN where all pairs are tied in one of the two.
func (c PairCounts) TauB() float64 { return c.tauB(true) }

// Tau23 is 2·Acc23 − 1: a pair tied in both agrees, as a concordant one does,
// and every other pair disagrees (Deutsch et al., 2023, "Ties Matter"). It is
// NaN without a pair.
func (c PairCounts) Tau23() float64 {
	agree := c.Concordant + c.TiedBoth
	return float64(2*agree-c.Pairs()) / float64(c.Pairs())
}

// Acc23 is the share of pairs that agree: concordant ones and those tied in
// both (Deutsch et al., 2023, "Ties Matter"). It is NaN without a pair.
func (c PairCounts) Acc23() float64 {
	return float64(c.Concordant+c.TiedBoth) / float64(c.Pairs())
}

func plain23(gold, metric []float64) float64    { return CountPairs(gold, metric, 0).Tau23() }
func plainAcc23(gold, metric []float64) float64 { return CountPairs(gold, metric, 0).Acc23() }

// KendallC returns Kendall's tau-c of two aligned vectors of finite numbers
// (Stuart, 1953): concordant minus discordant pairs over n²(m−1)/2m, where m is
// the smaller number of distinct values.
//
// It is NaN for fewer than two elements and for a constant vector. It takes
// O(n log n) time. It panics if the lengths differ.
func KendallC(gold, metric []float64) float64 {
	checkLengths(gold, metric)
	row := newCountsRow(gold, metric, make([]int32, len(gold)), 0)
	return row.counts([]int32{1}, new(scratch)).tauC()
}

// weightedCounts are the counts of two vectors in which elements are present
// several times.
type weightedCounts struct {
	PairCounts
	elements                     int64
	goldDistinct, metricDistinct int64
}

func (c weightedCounts) tauC() float64 {
	classes := min(c.goldDistinct, c.metricDistinct)
	if classes < 2 {
		return math.NaN()
	}
	n, m := float64(c.elements), float64(classes)
	return 2 * float64(c.Concordant-c.Discordant) / (n * n * (m - 1) / m)
}

// countsRow holds two vectors in ascending order of the metric scores.
type countsRow struct {
	unit    []int32
	metric  []float64
	gold    []int32 // rank of each element, from 1
	ranks   int     // number of distinct gold values
	epsilon float64
	value   func(weightedCounts) float64 // what weighted returns
}

func newCountsRow(gold, metric []float64, unit []int32, epsilon float64) *countsRow {
	r := &countsRow{epsilon: epsilon}
	ranks, distinct := denseRanks(gold)
	r.ranks = distinct
	for _, i := range ascending(metric) {
		r.unit = append(r.unit, unit[i])
		r.metric = append(r.metric, metric[i])
		r.gold = append(r.gold, ranks[i]+1)
	}
	return r
}

// counts returns the counts of the vectors in which each element of unit u
// is present weights[u] times. It takes O(n log d) time with d distinct gold
// values.
func (r *countsRow) counts(weights []int32, s *scratch) weightedCounts {
	// tree is a Fenwick tree over the gold ranks of the elements that lie more
	// than epsilon below; counts has the same numbers one by one.
	tree, counts := s.integers(r.ranks + 1)
	var out weightedCounts
	var inserted, apart int64
	insert := func(k int) {
		w := int64(weights[r.unit[k]])
		if w == 0 {
			return
		}
		inserted += w
		rank := int(r.gold[k])
		counts[rank] += w
		for i := rank; i < len(tree); i += i & -i {
			tree[i] += w
		}
	}
	k, last := 0, math.NaN()
	for j, v := range r.metric {
		w := int64(weights[r.unit[j]])
		if w == 0 {
			continue
		}
		if v != last {
			out.metricDistinct++
			last = v
		}
		for ; v-r.metric[k] > r.epsilon; k++ {
			insert(k)
		}
		rank := int(r.gold[j])
		var below int64
		for i := rank - 1; i > 0; i &= i - 1 {
			below += tree[i]
		}
		equal := counts[rank]
		out.Concordant += w * below
		out.Discordant += w * (inserted - below - equal)
		apart += w * equal
		out.elements += w
	}
	for ; k < len(r.metric); k++ {
		insert(k)
	}
	var goldTied int64
	for _, c := range counts {
		goldTied += c * (c - 1) / 2
		if c > 0 {
			out.goldDistinct++
		}
	}
	out.TiedGold = apart
	out.TiedBoth = goldTied - apart
	out.TiedMetric = out.elements*(out.elements-1)/2 - out.Concordant - out.Discordant - goldTied
	return out
}

func (r *countsRow) weighted(weights []int32, s *scratch) float64 {
	return r.value(r.counts(weights, s))
}

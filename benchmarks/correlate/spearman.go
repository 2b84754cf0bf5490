package correlate

import "math"

// Spearman returns Spearman's rank correlation of two aligned vectors of finite numbers, in
// [-1, 1]: Pearson's correlation of their ranks, where equal values share the mean of their
// ranks.
//
// It is NaN for fewer than two elements, for a constant vector, and if an element is NaN.
// It takes O(n log n) time. It panics if the lengths differ.
func Spearman(x, y []float64) float64 {
	checkLengths(x, y)
	if len(x) < 2 || hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	return newSpearmanRow(Row{x, y, make([]int32, len(x))}, newRanking(x)).weighted([]int32{1}, new(scratch))
}

// spearmanRow holds two vectors as dense ranks. Weights of the segments change how many
// elements share a rank, but not the order of the ranks, so counting gives the mean ranks
// of a resample.
type spearmanRow struct {
	unit                 []int32
	xRank, yRank         []int32
	xDistinct, yDistinct int
}

func newSpearmanRow(r Row, gold ranking) *spearmanRow {
	s := &spearmanRow{unit: r.unit, xRank: gold.ranks, xDistinct: gold.distinct}
	s.yRank, s.yDistinct = denseRanks(r.Metric)
	return s
}

// weighted returns the correlation of the vectors in which each element of unit u occurs
// weights[u] times, in O(n) time.
func (r *spearmanRow) weighted(weights []int32, s *scratch) float64 {
	xCounts, yCounts := s.floats(r.xDistinct, r.yDistinct)
	var n float64
	for i, u := range r.unit {
		w := float64(weights[u])
		n += w
		xCounts[r.xRank[i]] += w
		yCounts[r.yRank[i]] += w
	}
	xx := centreRanks(xCounts, n)
	yy := centreRanks(yCounts, n)
	if xx == 0 || yy == 0 { // constant, or fewer than two elements
		return math.NaN()
	}
	var xy float64
	for i, u := range r.unit {
		w := float64(weights[u])
		// The conversions keep products and sums separate, so that machines with a fused
		// instruction give the same bits.
		xy += float64(w * float64(xCounts[r.xRank[i]]*yCounts[r.yRank[i]]))
	}
	return clamp(xy / math.Sqrt(xx) / math.Sqrt(yy))
}

// centreRanks turns the counts of n elements per distinct value, in ascending order, into
// twice their mean ranks minus twice the mean of all ranks, and returns the sum of the
// squares of these over the elements. All are integers, and exact up to about 200,000
// elements.
func centreRanks(counts []float64, n float64) (squares float64) {
	var below float64
	for r, c := range counts {
		rank := 2*below + c - n
		below += c
		counts[r] = rank
		squares += float64(c * float64(rank*rank))
	}
	return squares
}

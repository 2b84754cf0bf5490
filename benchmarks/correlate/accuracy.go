package correlate

import "math"

// PairwiseAccuracy returns the share of pairs of systems that the metric orders like the
// gold scores, in [0, 1], and the number of pairs (Kocmi et al., 2021, "To Ship or Not to
// Ship", equation 1). The slices are aligned and hold one finite score per system.
//
// A pair tied in both agrees, a pair tied in only one does not, as in mt-metrics-eval. All
// pairs count. The value is NaN for fewer than two systems, and if the gold scores are all
// equal, as they order nothing. It panics if the lengths differ.
func PairwiseAccuracy(gold, metric []float64) (value float64, pairs int) {
	checkLengths(gold, metric)
	c := countPairs(gold, metric)
	if c.goldDistinct < 2 {
		return math.NaN(), int(c.Pairs())
	}
	return c.Acc23(), int(c.Pairs())
}

// SystemMeans returns, per system, the mean gold and the mean metric score over the cells
// that have both, and the number of those cells. Both means are NaN if that number is 0.
//
// Both means cover the same cells, so that they are comparable when only part of a system's
// segments was judged. A metric's published system scores cover all segments and may
// differ.
func SystemMeans(p *Pairs) (gold, metric []float64, cells []int) {
	golds, metric := systemMeans(p).both(nil, new(scratch))
	return golds.means, metric, golds.cells
}

func systemMeans(p *Pairs) *meanRow {
	return newMeanRow(p, make([]int32, p.Segments), 1, nil, int64(p.Segments))
}

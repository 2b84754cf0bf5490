package correlate

import "math"

// Kendall returns Kendall's tau-b of two aligned vectors of finite numbers, in [-1, 1]:
// concordant minus discordant pairs over the geometric mean of the numbers of pairs that
// are not tied in x and not tied in y (Kendall, 1945, "The treatment of ties in ranking
// problems").
//
// It is NaN for fewer than two elements, for a constant vector, and if an element is NaN.
// It takes O(n log n) time, and the pairs are counted in integers. It panics if the lengths
// differ.
func Kendall(x, y []float64) float64 {
	checkLengths(x, y)
	if len(x) < 2 || hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	return countPairs(x, y).tauB()
}

// tauB divides first by the root of the pairs that the metric does not tie, or first by the
// root of those that the gold scores do not tie: the order decides the last digit.
func (c PairCounts) tauB(metricFirst bool) float64 {
	first := c.Pairs() - c.TiedGold - c.TiedBoth
	second := c.Pairs() - c.TiedMetric - c.TiedBoth
	if first == 0 || second == 0 {
		return math.NaN()
	}
	if metricFirst {
		first, second = second, first
	}
	return clamp(float64(c.Concordant-c.Discordant) / math.Sqrt(float64(first)) / math.Sqrt(float64(second)))
}

// clamp undoes the rounding by which a value can leave [-1, 1] in the last digit.
func clamp(r float64) float64 {
	return min(1, max(-1, r))
}

package correlate

import "math"

// PairCounts says how two vectors order the pairs of their elements. Each pair is counted
// in exactly one field.
type PairCounts struct {
	Concordant, Discordant int64
	TiedGold               int64 // tied only in the gold scores
	TiedMetric             int64 // tied only in the metric scores
	TiedBoth               int64
}

// CountPairs counts the pairs of two aligned vectors of finite numbers. It takes
// O(n log n) time. It panics if the lengths differ.
func CountPairs(gold, metric []float64) PairCounts {
	checkLengths(gold, metric)
	return countPairs(gold, metric).PairCounts
}

// Pairs is the number of pairs counted.
func (c PairCounts) Pairs() int64 {
	return c.Concordant + c.Discordant + c.TiedGold + c.TiedMetric + c.TiedBoth
}

// TauB is Kendall's tau-b, NaN if all pairs are tied in one of the two.
func (c PairCounts) TauB() float64 { return c.tauB(true) }

// Acc23 is the share of pairs that agree: concordant ones and those tied in
// both (Deutsch et al., 2023, "Ties Matter"). It is NaN without a pair.
func (c PairCounts) Acc23() float64 {
	return float64(c.Concordant+c.TiedBoth) / float64(c.Pairs())
}

func plainAcc23(gold, metric []float64) float64 { return CountPairs(gold, metric).Acc23() }

// kendallC returns Kendall's tau-c of two aligned vectors of finite numbers
// (Stuart, 1953): concordant minus discordant pairs over n²(m−1)/2m, where m is
// the smaller number of distinct values.
//
// It is NaN for fewer than two elements and for a constant vector. It takes
// O(n log n) time. It panics if the lengths differ.
func kendallC(gold, metric []float64) float64 {
	checkLengths(gold, metric)
	return countPairs(gold, metric).tauC()
}

// vectorCounts are the counts of two vectors.
type vectorCounts struct {
	PairCounts
	elements                     int64
	goldDistinct, metricDistinct int64
	metricFirst                  bool // whether tau-b divides by the metric's term first
}

func (c vectorCounts) tauB() float64 { return c.PairCounts.tauB(c.metricFirst) }

func (c vectorCounts) tauC() float64 {
	classes := min(c.goldDistinct, c.metricDistinct)
	if classes < 2 {
		return math.NaN()
	}
	n, m := float64(c.elements), float64(classes)
	return 2 * float64(c.Concordant-c.Discordant) / (n * n * (m - 1) / m)
}

// pairsStatistic is a statistic of counts of pairs.
type pairsStatistic struct {
	value   func(vectorCounts) float64
	classes bool // it needs the numbers of distinct scores
	// scale, unless it is nil, is what concordant less discordant pairs are multiplied by, or the
	// pairs that agree. It is infinite where the value is undefined.
	scale func(all, goldTied, metricTied int64) float64
	agree bool
}

func tauScale(all, goldTied, metricTied int64) float64 {
	return 1 / math.Sqrt(float64(all-goldTied)) / math.Sqrt(float64(all-metricTied))
}

// few is the number of elements up to which comparing each pair is faster than sorting.
const few = 32

// comparePairs counts pairs one by one.
func comparePairs(gold, metric []float64) vectorCounts {
	out := vectorCounts{elements: int64(len(gold))}
	for i, g := range gold {
		m, goldAgain, metricAgain := metric[i], false, false
		for j, h := range gold[:i] {
			switch k := metric[j]; {
			case g == h && m == k:
				out.TiedBoth++
				goldAgain, metricAgain = true, true
			case g == h:
				out.TiedGold++
				goldAgain = true
			case m == k:
				out.TiedMetric++
				metricAgain = true
			case (g > h) == (m > k):
				out.Concordant++
			default:
				out.Discordant++
			}
		}
		if !goldAgain {
			out.goldDistinct++
		}
		if !metricAgain {
			out.metricDistinct++
		}
	}
	out.metricFirst = out.metricDistinct > out.goldDistinct
	return out
}

// countPairs counts pairs as [CountPairs] does, in O(n log d) time after sorting, with d
// distinct gold values.
func countPairs(gold, metric []float64) vectorCounts {
	if len(gold) <= few {
		return comparePairs(gold, metric)
	}
	return sortPairs(gold, metric)
}

func sortPairs(gold, metric []float64) vectorCounts {
	ranks, goldDistinct := denseRanks(gold)
	metricRanks, metricDistinct := denseRanks(metric)
	order, ends := sortByRank(nil, metricRanks, metricDistinct)
	golds := make([]int32, len(order))
	for i, j := range order {
		golds[i] = ranks[j]
	}
	c := countRuns(golds, ends, goldDistinct)
	c.metricFirst = metricDistinct > goldDistinct
	return c
}

// countRuns counts the pairs of elements in the order of their metric scores, from the ranks of
// their gold scores, and where each run of equal metric scores ends.
func countRuns(golds, ends []int32, distinct int) vectorCounts {
	n := int64(len(golds))
	out := vectorCounts{elements: n, goldDistinct: int64(distinct), metricDistinct: int64(len(ends))}
	counts, start := newRankCounts(distinct), int32(0)
	for _, end := range ends {
		for _, rank := range golds[start:end] {
			p := counts.place(rank)
			out.Concordant += p.below
			out.TiedGold += p.equal
			out.Discordant += p.above
		}
		for _, rank := range golds[start:end] {
			counts.add(rank)
		}
		start = end
	}
	var goldTied int64
	for _, c := range counts.of {
		goldTied += c * (c - 1) / 2
	}
	out.TiedBoth = goldTied - out.TiedGold
	out.TiedMetric = n*(n-1)/2 - out.Concordant - out.Discordant - goldTied
	return out
}

// rankCounts counts elements by their rank, and in a Fenwick tree by ranks up to one.
type rankCounts struct {
	of, tree []int64
	n        int64
}

// rankPlace is how many of counted elements have a smaller, the same and a larger rank.
type rankPlace struct{ below, equal, above int64 }

func newRankCounts(ranks int) *rankCounts {
	return &rankCounts{of: make([]int64, ranks), tree: make([]int64, ranks+1)}
}

func (c *rankCounts) add(rank int32) {
	c.n++
	c.of[rank]++
	for i := int(rank) + 1; i < len(c.tree); i += i & -i {
		c.tree[i]++
	}
}

func (c *rankCounts) place(rank int32) rankPlace {
	p := rankPlace{equal: c.of[rank]}
	for i := int(rank); i > 0; i &= i - 1 {
		p.below += c.tree[i]
	}
	p.above = c.n - p.below - p.equal
	return p
}

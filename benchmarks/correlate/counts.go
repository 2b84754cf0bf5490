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
	order, _ := sortByRank(nil, metricRanks, metricDistinct)
	out := vectorCounts{
		elements: int64(len(gold)), goldDistinct: int64(goldDistinct), metricDistinct: int64(metricDistinct),
		metricFirst: metricDistinct > goldDistinct,
	}
	// tree is a Fenwick tree over the gold ranks, from 1, of the elements below; counts has
	// the same numbers individually.
	tree, counts := make([]int64, goldDistinct+1), make([]int64, goldDistinct+1)
	var apart int64
	passed := 0
	for _, j := range order {
		for ; metric[j] > metric[order[passed]]; passed++ {
			rank := int(ranks[order[passed]]) + 1
			counts[rank]++
			for i := rank; i < len(tree); i += i & -i {
				tree[i]++
			}
		}
		rank := int(ranks[j]) + 1
		var below int64
		for i := rank - 1; i > 0; i &= i - 1 {
			below += tree[i]
		}
		out.Concordant += below
		out.Discordant += int64(passed) - below - counts[rank]
		apart += counts[rank]
	}
	for ; passed < len(order); passed++ {
		counts[ranks[order[passed]]+1]++
	}
	var goldTied int64
	for _, c := range counts {
		goldTied += c * (c - 1) / 2
	}
	out.TiedGold = apart
	out.TiedBoth = goldTied - apart
	out.TiedMetric = out.elements*(out.elements-1)/2 - out.Concordant - out.Discordant - goldTied
	return out
}

package correlate

import "math"

// Kendall returns Kendall's tau-b of two aligned vectors of finite numbers, in
// [-1, 1]: concordant minus discordant pairs over the geometric mean of the
// numbers of pairs that are not tied in x and not tied in y (Kendall, 1945,
// "The treatment of ties in ranking problems").
//
// It is NaN for fewer than two elements, for a constant vector, and where an
// element is NaN. It takes O(n log n) time, and the pairs are counted in
// integers. It panics if the lengths differ.
func Kendall(x, y []float64) float64 {
	checkLengths(x, y)
	if len(x) < 2 || hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	c := newCountsRow(x, y, make([]int32, len(x)), 0).counts([]int32{1}, new(scratch))
	return c.tauB(c.metricDistinct > c.goldDistinct)
}

// tauB divides by the root of the pairs that the metric does not tie first, or
// by that of the pairs that the gold scores do not tie: the order decides the
// last digit.
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

// clamp takes back the last digit by which rounding can leave [-1, 1].
func clamp(r float64) float64 {
	return min(1, max(-1, r))
}

// pairsRow counts the pairs of a vector in a whole block of resamples at once.
// It holds the elements in the order of one score, the outer one, so that no
// resample sorts. The other, inner one has fewer distinct values, as human
// scores do.
type pairsRow struct {
	value func(c PairCounts, metricFirst bool) float64

	goldInside bool // the gold score is the inner one
	elements   []pairsElement
	ends       []int32 // where each run of equal outer scores ends
	top        int32   // highest rank of the inner score
	size       []int32 // number of elements of each unit
	topSize    []int32 // of these, of those with the top rank
	most       int64   // the largest number of a lane

	outerTied, bothTied ties
}

type pairsElement struct {
	unit int32
	rank int32 // of the inner score, from 1
}

// newPairsRow prepares a vector for resamples of that many draws of units.
func newPairsRow(r Row, units, draws int, value func(PairCounts, bool) float64) *pairsRow {
	outer, outerDistinct := denseRanks(r.Metric)
	inner, innerDistinct := denseRanks(r.Gold)
	k := &pairsRow{value: value, goldInside: outerDistinct > innerDistinct, size: make([]int32, units), topSize: make([]int32, units)}
	if !k.goldInside {
		outer, inner = inner, outer
		outerDistinct, innerDistinct = innerDistinct, outerDistinct
	}
	k.top = int32(innerDistinct)
	k.outerTied.own, k.bothTied.own = make([]int64, units), make([]int64, units)
	order := make([]int32, len(outer))
	for i := range order {
		order[i] = int32(i)
	}
	order, _ = sortByRank(order, inner, innerDistinct)
	order, k.ends = sortByRank(order, outer, outerDistinct)
	for _, i := range order {
		k.elements = append(k.elements, pairsElement{r.unit[i], inner[i] + 1})
		k.size[r.unit[i]]++
		if inner[i]+1 == k.top {
			k.topSize[r.unit[i]]++
		}
	}
	start := 0
	for _, end := range k.ends {
		run := k.elements[start:end]
		start = int(end)
		k.outerTied.add(run)
		for from, e := range run {
			if from > 0 && run[from-1].rank == e.rank {
				continue
			}
			to := from + 1
			for to < len(run) && run[to].rank == e.rank {
				to++
			}
			k.bothTied.add(run[from:to])
		}
	}
	var largest int64
	for _, n := range k.size {
		largest = max(largest, int64(n))
	}
	k.most = largest * largest * int64(draws)
	return k
}

// sortByRank returns the elements of an order sorted by their ranks, equal ones
// as they are, and where each rank ends.
func sortByRank(order, ranks []int32, distinct int) (sorted, ends []int32) {
	ends = make([]int32, distinct)
	for _, r := range ranks {
		ends[r]++
	}
	var sum int32
	for r, n := range ends {
		ends[r] = sum
		sum += n
	}
	sorted = make([]int32, len(order))
	for _, i := range order {
		r := ranks[i]
		sorted[ends[r]] = i
		ends[r]++
	}
	return sorted, ends
}

// values takes the value of each resample of a block.
func (k *pairsRow) values(b *block, out []float64, s *scratch) {
	// tree is a Fenwick tree over the inner ranks of the elements in earlier
	// runs, but for the top rank, which is below none; all is their sum.
	// below adds up, per unit, the elements below its elements in both scores.
	tree, below := s.lanes(int(k.top), len(k.size))
	var all lanes
	start := int32(0)
	for _, end := range k.ends {
		run := k.elements[start:end]
		start = end
		for _, e := range run {
			switch r := e.rank - 1; {
			case e.rank == k.top:
				below[e.unit].add(&all)
			case r > 0:
				sum := tree[r]
				for r &= r - 1; r > 0; r &= r - 1 {
					sum.add(&tree[r])
				}
				below[e.unit].add(&sum)
			}
		}
		for _, e := range run {
			if e.rank < k.top {
				w := &b.units[e.unit]
				all.add(w)
				for r := e.rank; r < k.top; r += r & -r {
					tree[r].add(w)
				}
			}
		}
	}
	concordant, innerSquares := s.integers(laneCapacity(b.width))
	b.addProducts(concordant, below, b.units)
	// Undo the sums of the tree: what is left is the number of each rank.
	for r := k.top - 1; r > 0; r-- {
		if up := r + r&-r; up < k.top {
			tree[up].subtract(&tree[r])
		}
	}
	b.addProducts(innerSquares, tree, tree)
	for i, weights := range b.weights {
		var n, top int64
		for u, size := range k.size {
			n += int64(size) * int64(weights[u])
			top += int64(k.topSize[u]) * int64(weights[u])
		}
		pairs := func(squares int64) int64 { return (squares - n) / 2 }
		all := pairs(n * n)
		inner := pairs(innerSquares[i] + top*top)
		outer, both := pairs(k.outerTied.squares(weights)), pairs(k.bothTied.squares(weights))
		c := PairCounts{Concordant: concordant[i], TiedGold: inner - both, TiedMetric: outer - both, TiedBoth: both}
		c.Discordant = all - outer - inner + both - c.Concordant
		if !k.goldInside {
			c.TiedGold, c.TiedMetric = c.TiedMetric, c.TiedGold
		}
		out[i] = k.value(c, k.goldInside)
	}
}

// ties holds groups of tied elements.
type ties struct {
	own   []int64 // of each unit: the squares of the sizes of groups of it alone
	units []int32 // of the elements of the other groups
	ends  []int32 // of each of these
}

func (t *ties) add(group []pairsElement) {
	for _, e := range group {
		if e.unit != group[0].unit {
			for _, e := range group {
				t.units = append(t.units, e.unit)
			}
			t.ends = append(t.ends, int32(len(t.units)))
			return
		}
	}
	t.own[group[0].unit] += int64(len(group)) * int64(len(group))
}

// squares is the sum of the squares of the sizes of all groups.
func (t *ties) squares(weights []int32) int64 {
	var sum int64
	for u, n := range t.own {
		w := int64(weights[u])
		sum += n * w * w
	}
	start := int32(0)
	for _, end := range t.ends {
		var size int64
		for _, u := range t.units[start:end] {
			size += int64(weights[u])
		}
		sum += size * size
		start = end
	}
	return sum
}

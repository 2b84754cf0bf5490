package correlate

import (
	"math"
	"slices"
)

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

// pairsRow counts the pairs of a vector in a whole block of resamples at once. It holds the
// elements in the order of one score, the outer one, so that no resample sorts. The other
// one, the inner score, has fewer distinct values, like human scores.
type pairsRow struct {
	of *pairsStatistic

	goldInside bool // the gold score is the inner one
	elements   []pairsElement
	ends       []int32 // where each run of equal outer scores ends
	inner      rankTree
	most       int64 // the largest number in a lane
	units      []pairsUnit
	// Groups of elements of several units that are tied in the outer score, and in both.
	outerTied, bothTied ties
	byUnit              *unitPairs // nil unless pairs are counted by unit
}

type pairsElement struct {
	unit int32
	rank int32 // of the inner score, from 0
}

// pairsUnit is what the elements of a unit add to the counts.
type pairsUnit struct {
	size int64 // number of elements
	// For runs of elements of only this unit that are tied in the outer score: their number
	// and the sum of the squares of their sizes; the same sum for those tied in both.
	runs, outerTied, bothTied int64
}

// newPairsRow prepares a vector for resamples of this many units. Numbers in a resample are at
// most most times the square of the largest unit.
func newPairsRow(r Row, gold ranking, units, most int, of *pairsStatistic) *pairsRow {
	outer, outerDistinct := denseRanks(r.Metric)
	inner, innerDistinct := gold.ranks, gold.distinct
	k := &pairsRow{of: of, goldInside: outerDistinct > innerDistinct, units: make([]pairsUnit, units)}
	if !k.goldInside {
		outer, inner = inner, outer
		outerDistinct, innerDistinct = innerDistinct, outerDistinct
	}
	order, innerEnds := sortByRank(nil, inner, innerDistinct)
	k.inner.build(innerEnds)
	element := func(i int32) pairsElement { return pairsElement{r.unit[i], inner[i]} }
	byInner := order
	order, k.ends = sortByRank(order, outer, outerDistinct)
	k.elements = make([]pairsElement, 0, len(order))
	for _, i := range order {
		e := element(i)
		k.elements = append(k.elements, e)
		k.units[e.unit].size++
	}
	start := 0
	if !of.classes {
		k.byUnit = newUnitPairs(k.elements, k.ends, k.units, innerDistinct, most)
	}
	if k.byUnit != nil {
		var run []pairsElement
		for _, end := range innerEnds {
			run = run[:0]
			for _, i := range byInner[start:end] {
				run = append(run, element(i))
			}
			start = int(end)
			k.byUnit.tie(run)
		}
		start = 0
	}
	for _, end := range k.ends {
		run := k.elements[start:end]
		start = int(end)
		if n := k.outerTied.add(run); n > 0 {
			k.units[run[0].unit].outerTied += n
			k.units[run[0].unit].runs++
		}
		for from, e := range run {
			if from > 0 && run[from-1].rank == e.rank {
				continue
			}
			to := from + 1
			for to < len(run) && run[to].rank == e.rank {
				to++
			}
			if n := k.bothTied.add(run[from:to]); n > 0 {
				k.units[e.unit].bothTied += n
			}
		}
	}
	var largest int64
	for _, u := range k.units {
		largest = max(largest, u.size)
	}
	k.most = largest * largest * int64(most)
	return k
}

// values computes the value of each resample in a block.
func (k *pairsRow) values(b *block, out []float64, s *scratch) {
	var concordant, inner, outer, both, innerDistinct, outerDistinct [mostOfBlock]int64
	var all lanes
	for u := range k.units {
		all.addTimes(&b.units[u], k.units[u].size)
	}
	if k.byUnit != nil {
		for i := range out {
			concordant[i] = k.byUnit.concordant(b.weights[i], s)
			if b.held > 0 && k.byUnit.held != nil {
				inner[i] = k.byUnit.held[b.held-1+i]
			} else {
				inner[i] = k.byUnit.squares(b.weights[i])
			}
		}
	} else {
		tree := k.sweep(b, &concordant, s)
		sizes := k.inner.leaves(tree, all, s.sums[:0])
		b.addProducts(&inner, sizes, sizes)
		if k.of.classes {
			b.addPresent(&innerDistinct, sizes)
		}
		s.sums = sizes
	}
	sizes := k.outerTied.sizes(b, s.sums[:0])
	b.addProducts(&outer, sizes, sizes)
	if k.of.classes {
		b.addPresent(&outerDistinct, sizes)
	}
	sizes = k.bothTied.sizes(b, sizes[:0])
	b.addProducts(&both, sizes, sizes)
	s.sums = sizes
	for i := range out {
		// Single elements, and those of one unit, are in no group of several units.
		for u := range k.units {
			if w := int64(b.weights[i][u]); w > 0 {
				of := &k.units[u]
				outer[i] += w * w * of.outerTied
				both[i] += w * w * of.bothTied
				outerDistinct[i] += of.runs
			}
		}
		n := b.number(&all, i)
		pairs := func(squares int64) int64 { return (squares - n) / 2 }
		all, inner, outer, both := pairs(n*n), pairs(inner[i]), pairs(outer[i]), pairs(both[i])
		c := vectorCounts{elements: n, goldDistinct: innerDistinct[i], metricDistinct: outerDistinct[i], metricFirst: k.goldInside}
		c.PairCounts = PairCounts{Concordant: concordant[i], TiedGold: inner - both, TiedMetric: outer - both, TiedBoth: both}
		c.Discordant = all - outer - inner + both - c.Concordant
		if !k.goldInside {
			c.TiedGold, c.TiedMetric = c.TiedMetric, c.TiedGold
			c.goldDistinct, c.metricDistinct = c.metricDistinct, c.goldDistinct
		}
		out[i] = k.of.value(c)
	}
}

// sweep passes the elements by rising outer score and counts concordant pairs. It returns the
// numbers of elements in the nodes of the tree.
func (k *pairsRow) sweep(b *block, concordant *[mostOfBlock]int64, s *scratch) []lanes {
	// below sums, per unit, the elements below its elements in both scores.
	tree, below := s.lanes(len(k.inner.nodes), len(k.units))
	start := int32(0)
	for _, end := range k.ends {
		run := k.elements[start:end]
		for _, e := range run {
			for _, node := range k.inner.paths[e.rank].lower {
				below[e.unit].add(&tree[node])
			}
		}
		for _, e := range run {
			for _, node := range k.inner.paths[e.rank].upper {
				tree[node].add(&b.units[e.unit])
			}
		}
		start = end
	}
	b.addProducts(concordant, below, b.units)
	return tree
}

// ties holds groups of tied elements of several units.
type ties struct {
	parts []tiedPart
	ends  []int32 // end of each group
}

// tiedPart is a number of elements of a unit.
type tiedPart struct{ unit, size int32 }

// add adds a group. A group of a single unit is left out, and its squared size returned.
func (t *ties) add(group []pairsElement) int64 {
	for _, e := range group {
		if e.unit != group[0].unit {
			for i, e := range group {
				if i == 0 || e.unit != group[i-1].unit {
					t.parts = append(t.parts, tiedPart{unit: e.unit})
				}
				t.parts[len(t.parts)-1].size++
			}
			t.ends = append(t.ends, int32(len(t.parts)))
			return 0
		}
	}
	return int64(len(group)) * int64(len(group))
}

// sizes appends the size of each group.
func (t *ties) sizes(b *block, to []lanes) []lanes {
	start := int32(0)
	for _, end := range t.ends {
		var size lanes
		for _, p := range t.parts[start:end] {
			if w := &b.units[p.unit]; p.size == 1 {
				size.add(w)
			} else {
				size.addTimes(w, int64(p.size))
			}
		}
		to = append(to, size)
		start = end
	}
	return to
}

// rankTree is a binary tree over ranks whose nodes count the elements with a rank in the
// left half. Frequent ranks are near the root: a look-up and an update together take about
// as many steps as an entropy code has bits.
type rankTree struct {
	nodes []rankNode
	paths []rankPath // of each rank
}

// rankNode has the children of a node: other nodes, or the complement of a
// rank.
type rankNode struct{ left, right int32 }

// rankPath lists the nodes that have a rank in their right half, and those that have it in
// their left half.
type rankPath struct{ lower, upper []int32 }

// build makes the tree for ranks whose elements end there.
func (t *rankTree) build(ends []int32) {
	t.paths = make([]rankPath, len(ends))
	if len(ends) > 0 {
		t.split(ends, 0, len(ends), rankPath{})
	}
}

// split makes the tree of the ranks from … to and returns its root.
func (t *rankTree) split(ends []int32, from, to int, path rankPath) int32 {
	if to-from == 1 {
		t.paths[from] = rankPath{slices.Clone(path.lower), slices.Clone(path.upper)}
		return ^int32(from)
	}
	start := int32(0)
	if from > 0 {
		start = ends[from-1]
	}
	half := (start + ends[to-1]) / 2
	at, _ := slices.BinarySearch(ends[from:to-1], half)
	middle := from + at + 1 // the left half ends with the median's rank
	if at > 0 && half-ends[middle-2] < ends[middle-1]-half {
		middle--
	}
	middle = min(middle, to-1)
	node := int32(len(t.nodes))
	t.nodes = append(t.nodes, rankNode{})
	left := t.split(ends, from, middle, rankPath{path.lower, append(path.upper, node)})
	right := t.split(ends, middle, to, rankPath{append(path.lower, node), path.upper})
	t.nodes[node] = rankNode{left, right}
	return node
}

// leaves appends the number of elements of each rank, in any order.
func (t *rankTree) leaves(counts []lanes, all lanes, to []lanes) []lanes {
	if len(t.nodes) == 0 {
		return append(to, all)
	}
	var walk func(child int32, n lanes)
	walk = func(child int32, n lanes) {
		if child < 0 {
			to = append(to, n)
			return
		}
		left := counts[child]
		walk(t.nodes[child].left, left)
		n.subtract(&left)
		walk(t.nodes[child].right, n)
	}
	walk(0, all)
	return to
}

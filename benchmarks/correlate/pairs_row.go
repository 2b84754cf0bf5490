package correlate

// pairsRow counts the pairs of a vector in a whole block of resamples at once. It holds the
// elements in the order of one score, the outer one, so that no resample sorts. The other
// one, the inner score, has fewer distinct values, like human scores.
type pairsRow struct {
	of *pairsStatistic

	goldInside         bool // the gold score is the inner one
	elements           []pairsElement
	ends               []int32              // where each run of equal outer scores ends
	ranks              int                  // distinct inner scores
	sizes              []int64              // elements of each unit
	largest            int64                // of these
	most               int64                // elements of a resample
	gold, metric, both *ties                // both is nil if the statistic does not depend on them
	held               *ofDraws[*tieCounts] // of the gold scores
	byUnit             *unitPairs           // nil unless pairs are counted by unit
}

type pairsElement struct {
	unit int32
	rank int32 // of the inner score, from 0
}

// newPairsRow prepares a vector of this many units for resamples, which draw at most most of them.
func newPairsRow(r Row, gold ranking, units, most int, of *pairsStatistic) *pairsRow {
	outer, outerDistinct := denseRanks(r.Metric)
	inner, innerDistinct := gold.ranks, gold.distinct
	k := &pairsRow{of: of, goldInside: outerDistinct > innerDistinct, sizes: make([]int64, units)}
	if !k.goldInside {
		outer, inner = inner, outer
		outerDistinct, innerDistinct = innerDistinct, outerDistinct
	}
	k.ranks = innerDistinct
	order, ends := sortByRank(nil, inner, innerDistinct)
	k.gold = newTies(order, ends, r.unit, units)
	order, k.ends = sortByRank(order, outer, outerDistinct)
	k.metric = newTies(order, k.ends, r.unit, units)
	if !k.goldInside {
		k.gold, k.metric = k.metric, k.gold
	}
	ends = nil
	k.elements = make([]pairsElement, len(order))
	run := 0
	for i, at := range order {
		k.elements[i] = pairsElement{r.unit[at], inner[at]}
		k.sizes[r.unit[at]]++
		last := i+1 == int(k.ends[run])
		if last {
			run++
		}
		if last || inner[order[i+1]] != inner[at] {
			ends = append(ends, int32(i+1))
		}
	}
	if !of.classes {
		k.byUnit = newUnitPairs(k.elements, k.ends, k.sizes, innerDistinct, most)
	}
	if k.byUnit == nil || of.agree {
		k.both = newTies(order, ends, r.unit, units)
	}
	for _, n := range k.sizes {
		k.largest = max(k.largest, n)
	}
	k.most = k.largest * int64(most)
	return k
}

// width is the number of bits of its lanes, which hold the sum over several elements of a unit, of
// all elements of a resample.
func (k *pairsRow) width() int { return laneWidth(k.most * min(k.largest, 4)) }

// values computes the value of each resample in a block.
func (k *pairsRow) values(b *block, out []float64, s *scratch) {
	var concordant [mostOfBlock]int64
	var metrics, both tieCounts
	var all lanes
	for u := range k.sizes {
		all.addTimes(&b.units[u], k.sizes[u])
	}
	if k.byUnit == nil {
		k.sweep(b, &concordant, s)
	} else {
		for i := range out {
			concordant[i] = k.byUnit.sum(b.weights[i], s)
		}
	}
	golds := k.held.get(b.draw(0), func() *tieCounts {
		counts := new(tieCounts)
		k.gold.count(b, counts, k.held != nil || k.of.classes) // held ones are also for other statistics
		return counts
	})
	k.metric.count(b, &metrics, k.of.classes)
	if k.both != nil {
		k.both.count(b, &both, false)
	}
	for i := range out {
		n := b.number(&all, i)
		pairs := func(squares int64) int64 { return (squares - n) / 2 }
		all, gold, metric, both, concordant := pairs(n*n), pairs(golds.squares[i]), pairs(metrics.squares[i]), pairs(both.squares[i]), concordant[i]
		if k.byUnit != nil {
			inner := metric
			if k.goldInside {
				inner = gold
			}
			twice := concordant - inner // those tied in both count -1
			if k.both == nil {
				both = twice & 1 // as good as any number of them
			}
			concordant = (twice + both) / 2
		}
		c := vectorCounts{elements: n, metricFirst: k.goldInside, goldDistinct: golds.groups[i], metricDistinct: metrics.groups[i]}
		c.PairCounts = PairCounts{Concordant: concordant, TiedGold: gold - both, TiedMetric: metric - both, TiedBoth: both}
		c.Discordant = all - gold - metric + both - c.Concordant
		out[i] = k.of.value(c)
	}
}

// sweep passes the elements by rising outer score and counts concordant pairs: a Fenwick tree sums,
// per resample, those passed by their inner score.
func (k *pairsRow) sweep(b *block, concordant *[mostOfBlock]int64, s *scratch) {
	tree, below := s.lanes(k.ranks+1, len(k.sizes)) // below sums, per unit, those below its elements
	s.times = zeros(s.times, len(k.sizes))          // elements in these sums
	fit := (uint64(1)<<b.width - 1) / uint64(max(k.most, 1))
	start := int32(0)
	for _, end := range k.ends {
		run := k.elements[start:end]
		for _, e := range run {
			sum := &below[e.unit]
			s0, s1, s2, s3, s4, s5, s6, s7 := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]
			for i := int(e.rank); i > 0; i &= i - 1 {
				node := &tree[i]
				s0 += node[0]
				s1 += node[1]
				s2 += node[2]
				s3 += node[3]
				s4 += node[4]
				s5 += node[5]
				s6 += node[6]
				s7 += node[7]
			}
			*sum = lanes{s0, s1, s2, s3, s4, s5, s6, s7}
			if fit < uint64(k.largest) {
				if s.times[e.unit]++; uint64(s.times[e.unit]) == fit { // more may not fit in a lane
					b.addProducts(concordant, sum, &b.units[e.unit])
					*sum, s.times[e.unit] = lanes{}, 0
				}
			}
		}
		for _, e := range run {
			w := b.units[e.unit]
			for i := int(e.rank) + 1; i < len(tree); i += i & -i {
				tree[i].add(&w)
			}
		}
		start = end
	}
	for u := range below {
		b.addProducts(concordant, &below[u], &b.units[u])
	}
}

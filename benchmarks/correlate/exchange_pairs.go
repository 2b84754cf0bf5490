package correlate

import "math"

// exchangedPairs counts the pairs of a vector after exchanges of the scores of two metrics.
//
// The difference of two metrics' sums over pairs, such as of concordant less discordant ones, needs
// no counting: let k(x, y) be the term of a pair whose elements have the scores x and y, 0 or 1, of
// the two metrics. What it adds to the difference, k(x, y) - k(1-x, 1-y), is a function of x plus one
// of y. So each unit adds one number, with the sign that the exchange gives it. So it does to the
// difference of the pairs that the metrics tie, which divide the sums: a group of r equal scores, n of
// them of the first metric and m of the second, has (n-m)(r-1)/2 more of the first. Only how many
// both tie needs the sizes of these groups, and that has bounds.
type exchangedPairs struct {
	of       *pairsStatistic
	scores   []exchangedScore // of both metrics, by rising score
	ends     []int32          // where each run of equal scores ends
	elements int64
	goldTied int64 // pairs
	golds    int   // distinct gold scores
	metrics  int   // distinct scores of both metrics

	bits         []exchangedBit   // those that exchange elements
	tied         []exchangedScore // those in runs of several
	tiedEnds     []int32
	fewest, most int64 // pairs that both metrics tie, together
}

// exchangedBit is what the elements of a bit add, twice, if it is not set: to the difference of sums,
// and to that of tied pairs.
type exchangedBit struct {
	bit         int32
	terms, ties int64
}

// exchangedScore is a score of an element: unit is twice its bit, and one more for a score of the
// second metric.
type exchangedScore struct{ unit, gold int32 }

// of is 1 if the score is one of the first or second metric, 0 or 1, after an exchange.
func (x exchangedScore) of(mask []uint64, which int32) int32 {
	return 1 ^ which ^ x.unit&1 ^ exchanged(mask, int(x.unit>>1))
}

// newExchangedPairs takes the scores of the first metric, followed by those of the second.
func newExchangedPairs(r Row, of *pairsStatistic) *exchangedPairs {
	n := len(r.Gold) / 2
	p := &exchangedPairs{of: of, elements: int64(n)}
	var gold, metric, order []int32
	gold, p.golds = denseRanks(r.Gold)
	metric, p.metrics = denseRanks(r.Metric)
	order, p.ends = sortByRank(nil, metric, p.metrics)
	for _, i := range order {
		p.scores = append(p.scores, exchangedScore{r.unit[i], gold[i]})
	}
	golds := newRankCounts(p.golds)
	for _, rank := range gold[:n] {
		p.goldTied += golds.of[rank]
		golds.add(rank)
	}
	terms, ties := make([]int64, len(order)), make([]int64, len(order)) // of each score
	for k, term := range p.termsOf(golds) {
		terms[order[k]] = term
	}
	start := int32(0)
	for _, end := range p.ends {
		if size := int64(end - start); size > 1 {
			p.tied = append(p.tied, p.scores[start:end]...)
			p.tiedEnds = append(p.tiedEnds, int32(len(p.tied)))
			for _, i := range order[start:end] {
				ties[i] = size - 1
			}
			p.fewest += size / 2 * ((size - 1) / 2) // half of the scores of each metric
			p.most += size * (size - 1) / 2
		}
		start = end
	}
	for i := range n {
		if i == 0 || r.unit[i] != r.unit[i-1] {
			p.bits = append(p.bits, exchangedBit{bit: r.unit[i] >> 1})
		}
		b := &p.bits[len(p.bits)-1]
		b.terms += terms[i] - terms[n+i]
		b.ties += ties[i] - ties[n+i]
	}
	return p
}

// termsOf returns the sum of the terms of all pairs with each score. Those of two scores that no
// exchange leaves to the same metric cancel out, in the sum over their unit. golds counts the
// elements.
func (p *exchangedPairs) termsOf(golds *rankCounts) (terms []int64) {
	passed, start := newRankCounts(p.golds), int32(0)
	var below []rankPlace // among the scores below a run
	for _, end := range p.ends {
		run := p.scores[start:end]
		below = below[:0]
		for _, x := range run {
			below = append(below, passed.place(x.gold))
		}
		for _, x := range run {
			passed.add(x.gold)
		}
		for i, x := range run {
			upTo := below[i]
			if upTo.equal++; len(run) > 1 {
				upTo = passed.place(x.gold)
			}
			all := golds.place(x.gold) // each element has two scores
			concordant := below[i].below + 2*all.above - upTo.above
			if p.of.agree {
				terms = append(terms, concordant+upTo.equal-below[i].equal-1)
			} else {
				terms = append(terms, concordant-below[i].above-(2*all.below-upTo.below))
			}
		}
		start = end
	}
	return terms
}

// value is the statistic of a metric, 0 or 1, after an exchange; NaN if it is undefined.
func (p *exchangedPairs) value(mask []uint64, which int32, s *scratch) float64 {
	golds, ends := s.times[:0], s.drawn[:0]
	start := int32(0)
	for _, end := range p.ends {
		for _, x := range p.scores[start:end] {
			if x.of(mask, which) == 1 {
				golds = append(golds, x.gold)
			}
		}
		if start = end; len(ends) == 0 && len(golds) > 0 || len(ends) > 0 && len(golds) > int(ends[len(ends)-1]) {
			ends = append(ends, int32(len(golds)))
		}
	}
	s.times, s.drawn = golds, ends
	c := countRuns(golds, ends, p.golds)
	c.metricFirst = p.metrics > p.golds
	return p.of.value(c)
}

// bounds returns between what the difference of the two metrics' values certainly is after an
// exchange, and false if both are certainly undefined. They are closer, for more work, if it counts the
// pairs that each metric ties.
func (p *exchangedPairs) bounds(mask []uint64, counts bool, s *scratch) (middle, half float64, defined bool) {
	if p.of.scale == nil {
		return 0, math.Inf(1), true
	}
	var difference, ties int64 // twice
	for _, b := range p.bits {
		sign := int64(1 - 2*exchanged(mask, int(b.bit)))
		difference += sign * b.terms
		ties += sign * b.ties
	}
	counts = counts || p.elements <= few
	fewest, most := p.fewest, p.most
	if counts {
		fewest = p.tiedPairs(mask)
		most = fewest
	}
	all := p.elements * (p.elements - 1) / 2
	scale := func(tied int64) float64 { return p.of.scale(all, p.goldTied, min(max(tied, 0), all)) }
	apart := max(ties, -ties)
	low := scale((2*fewest+apart)>>2) + scale((2*fewest-apart)>>2)
	a, b := scale((2*most+apart+3)>>2), scale((2*most-apart)>>2) // scales are convex, so they differ most here
	high := a + scale((2*most-apart+3)>>2)
	switch undefined := math.IsInf(a, 1); {
	case undefined && !counts, undefined != math.IsInf(b, 1):
		return 0, math.Inf(1), true
	case undefined:
		return 0, 0, false
	case a != b && p.elements <= few:
		return p.value(mask, 0, s) - p.value(mask, 1, s), 0, true
	}
	// With sums v and w it is av - bw, or (v-w)(a+b)/2 + (v+w)(a-b)/2.
	less := float64(difference) / 2
	return less * (low + high) / 4, math.Abs(less)*(high-low)/4 + float64(all)*(a-b), true
}

// tiedPairs is how many pairs both metrics tie after an exchange.
func (p *exchangedPairs) tiedPairs(mask []uint64) (pairs int64) {
	start := int32(0)
	for _, end := range p.tiedEnds {
		var n int64
		for _, x := range p.tied[start:end] {
			n += int64(x.of(mask, 0))
		}
		m := int64(end-start) - n
		pairs += (n*(n-1) + m*(m-1)) / 2
		start = end
	}
	return pairs
}

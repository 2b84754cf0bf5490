package correlate

import "math"

// softAccuracy is the soft pairwise accuracy of systems, with a vector each, in [0, 1]
// (Thompson et al., 2024, "Improving Statistical Significance in Human Evaluation of
// Automatic Metrics via Soft Pairwise Accuracy"): 1 minus the mean, over pairs of systems,
// of the difference between the gold and the metric p-value that the first system is better
// than the second.
//
// A p-value is the share of random exchanges of the two systems' segment scores whose
// difference is at least the observed one. All pairs share the exchanges, which are
// mt-metrics-eval's. It is undefined if the gold scores are all equal.
func softAccuracy(rows []Row) float64 { return newSoftTable(rows).weighted(nil, new(scratch)) }

// softTable holds the segments of several systems. A resample is compared as a separate
// table, in which a segment drawn twice has two exchanges.
type softTable struct {
	rows         []Row
	coins        *coins
	gold, metric *softScores
	held         *ofDraws[[]uint16] // the p-values of the gold scores, nil if the draws are not held
}

func newSoftTable(rows []Row) *softTable {
	t := &softTable{rows: rows, coins: newCoins()}
	t.gold = newSoftScores(rows, func(r Row) []float64 { return r.Gold })
	t.metric = newSoftScores(rows, rowMetric)
	return t
}

func rowMetric(r Row) []float64 { return r.Metric }

// order lists the segments in a resample, each as often as it is drawn; with nil, each once.
func (t *softTable) order(weights []int32) (order []int32) {
	if len(t.rows) == 0 {
		return nil
	}
	for k := range t.rows[0].Gold {
		times := int32(1)
		if weights != nil {
			times = weights[t.rows[0].unit[k]]
		}
		for range times {
			order = append(order, int32(k))
		}
	}
	return order
}

func (t *softTable) weighted(weights []int32, s *scratch) float64 {
	order := t.order(weights)
	return softOf(t.goldOf(s.draw, order), t.pValues(t.metric, order))
}

// goldOf returns the p-values of the gold scores in a resample, nil if these are all equal.
func (t *softTable) goldOf(draw *uint8, order []int32) []uint16 {
	return t.held.get(draw, func() (gold []uint16) {
		if t.gold.differ(order) {
			gold = t.pValues(t.gold, order)
		}
		return gold
	})
}

func (t *softTable) pValues(s *softScores, order []int32) []uint16 {
	if len(s.of) < 2 || len(order) == 0 {
		return nil
	}
	return s.fit(len(order)).pValues(order, t.coins.masks(len(order)))
}

// softOf returns the accuracy of all pairs' p-values; NaN without those of gold scores.
func softOf(gold, metric []uint16) float64 {
	var sum float64
	for i := range gold {
		sum += math.Abs(float64(gold[i])/permutations - float64(metric[i])/permutations)
	}
	return 1 - sum/float64(len(gold))
}

// completeRows returns one vector per system that has a cell with both scores, with the
// segments that have both scores of all these systems.
func completeRows(p *Pairs) []Row {
	segments, systems, _ := p.complete()
	rows := make([]Row, len(systems))
	for _, seg := range segments {
		for k, sys := range systems {
			i := p.Index(seg, sys)
			rows[k].Gold = append(rows[k].Gold, p.Gold[i])
			rows[k].Metric = append(rows[k].Metric, p.Metric[i])
			rows[k].unit = append(rows[k].unit, int32(i))
		}
	}
	return rows
}

// Complete returns how many segments have both scores of all systems that have any, and how many have
// both of some system. Soft accuracy is of the former.
func (p *Pairs) Complete() (segments, of int) {
	complete, _, of := p.complete()
	return len(complete), of
}

// complete returns these segments, the systems that have any scores, and how many segments have some.
func (p *Pairs) complete() (segments, systems []int, of int) {
	perSystem, perSegment := make([]int, p.Systems), make([]int, p.Segments)
	for seg := range p.Segments {
		for sys := range p.Systems {
			if p.paired(p.Index(seg, sys)) {
				perSystem[sys]++
				perSegment[seg]++
			}
		}
	}
	for sys, n := range perSystem {
		if n > 0 {
			systems = append(systems, sys)
		}
	}
	for seg, n := range perSegment {
		if n > 0 {
			of++
		}
		if n == len(systems) && n > 0 {
			segments = append(segments, seg)
		}
	}
	return segments, systems, of
}

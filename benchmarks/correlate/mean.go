package correlate

import (
	"math"
	"math/bits"
	"slices"

	"github.com/refract-eval/refract/internal/numeric"
)

// meanRow computes the mean scores of groups of segments, such as documents, over the cells
// that have both scores. The sums are exact, of decimals as people write them, and the means
// are rounded once. So means that are equal are equal here: 0.1 and 0.2 have that of 0 and 0.3.
type meanRow struct {
	*meanGolds
	measure Measure // for the table of means
	metric  *meanScores
}

// meanGolds is what means of tables with the same gold scores and cells share.
type meanGolds struct {
	goldCells
	units   []int32 // unit of each row, sorted by group; rows of nil units are of all
	ends    []int32 // end of each group's rows
	order   []int32 // of the segments, by group
	row     []int32 // of each segment in this order
	columns []int   // of each system: that with the number of its cells; systems with the same cells share it
	gold    *meanScores
	held    ofDraws[goldMeans]
}

// goldCells are the gold scores of the cells with both scores, and 0 for others; the group of each
// segment and the unit of each cell; and how many cells a sum covers at most.
type goldCells struct {
	scores   []float64
	paired   []bool
	of, unit []int32
	groups   int
	most     int64
}

func (c *goldCells) equal(d *goldCells) bool {
	return c.groups == d.groups && c.most == d.most && slices.Equal(c.of, d.of) && slices.Equal(c.unit, d.unit) &&
		slices.Equal(c.paired, d.paired) && slices.Equal(c.scores, d.scores)
}

// meanScores are numbers to sum: each row has the scores of a unit's segments in a group, by system,
// after other numbers, first the first part of each and then the others.
type meanScores struct {
	rows  [][]float64
	after int     // numbers
	parts int     // of a score
	scale int     // what these are multiplied by
	rest  float64 // at most this much of a score is in other parts than the first
}

// goldMeans are the mean gold scores by group and system, NaN if they are of no cell.
type goldMeans struct {
	means []float64
	cells []int
}

// newMeanRow takes the group of each segment and the unit of each cell, by default a single one.
// No sum covers more than the given number of cells.
func newMeanRow(p *Pairs, of []int32, groups int, unit []int32, most int64) *meanRow {
	metric := make([]float64, len(p.Metric))
	cells := goldCells{make([]float64, len(p.Gold)), make([]bool, len(p.Gold)), of, unit, groups, most}
	for i := range p.Gold {
		if cells.paired[i] = p.paired(i); cells.paired[i] {
			cells.scores[i], metric[i] = p.Gold[i], p.Metric[i]
		}
	}
	golds := p.known.goldMeans(cells, p.Systems)
	return &meanRow{meanGolds: golds, metric: golds.newScores(metric, 0)}
}

func newMeanGolds(c goldCells, systems int) *meanGolds {
	r := &meanGolds{goldCells: c, columns: make([]int, systems)}
	r.order, r.ends = sortByRank(nil, c.of, c.groups)
	r.row = make([]int32, 0, len(r.order))
	from := int32(0)
	for g, to := range r.ends {
		first := map[int32]int32{}
		for _, seg := range r.order[from:to] {
			u := int32(0)
			if c.unit != nil && systems > 0 {
				u = c.unit[int(seg)*systems]
			}
			k, ok := first[u]
			if !ok {
				k = int32(len(r.units))
				first[u], r.units = k, append(r.units, u)
			}
			r.row = append(r.row, k)
		}
		from, r.ends[g] = to, int32(len(r.units))
	}
	columns := 0
	for sys := range systems {
		if sys > 0 && c.sameCells(sys-1, sys, systems) {
			r.columns[sys] = r.columns[sys-1]
		} else {
			r.columns[sys] = columns
			columns++
		}
	}
	r.gold = r.newScores(slices.Clone(c.scores), columns)
	for k, seg := range r.order {
		for sys, column := range r.columns {
			if c.paired[int(seg)*systems+sys] && (sys == 0 || column != r.columns[sys-1]) {
				r.gold.rows[r.row[k]][column]++
			}
		}
	}
	return r
}

// newScores prepares scores, which are 0 in cells without both, after other numbers, and overwrites
// them.
func (r *meanGolds) newScores(scores []float64, after int) *meanScores {
	parts, scale, rest := exactParts(scores, r.most)
	m := &meanScores{rows: make([][]float64, len(r.units)), after: after, parts: len(parts), scale: scale, rest: rest}
	systems := len(r.columns)
	width := after + systems*len(parts)
	numbers := make([]float64, len(m.rows)*width)
	for i := range m.rows {
		m.rows[i] = numbers[i*width:][:width]
	}
	for k, seg := range r.order {
		to := m.rows[r.row[k]][after:]
		for _, part := range parts {
			for sys, v := range part[int(seg)*systems:][:systems] {
				to[sys] += v
			}
			to = to[systems:]
		}
	}
	return m
}

// sameCells reports whether two systems have both scores in the same segments.
func (c *goldCells) sameCells(a, b, systems int) bool {
	for from := 0; from < len(c.paired); from += systems {
		if c.paired[from+a] != c.paired[from+b] {
			return false
		}
	}
	return true
}

// exactParts splits numbers into parts, so that a part's sum over at most this many of the
// numbers is not rounded. Usually two parts are enough. Numbers with few decimals are
// multiplied by a power of ten, which makes them whole. It overwrites the numbers. The parts after
// the first are together at most remaining.
func exactParts(rest []float64, most int64) (parts [][]float64, scale int, remaining float64) {
	if scale := numeric.WholeScale(rest, most); scale > 0 {
		for i, v := range rest {
			rest[i] = math.Round(v * float64(scale))
		}
		return [][]float64{rest}, scale, 0
	}
	for {
		largest := 0.0
		for _, v := range rest {
			largest = max(largest, math.Abs(v))
		}
		if len(parts) == 1 {
			remaining = largest
		}
		if largest == 0 {
			return parts, 1, remaining
		}
		// The part is a multiple of a unit, so its sums fit the digits of a float64.
		_, exponent := math.Frexp(largest)
		unit := max(math.Ldexp(1, exponent+bits.Len64(uint64(most))-52), math.SmallestNonzeroFloat64)
		part := make([]float64, len(rest))
		for i, v := range rest {
			part[i] = math.RoundToEven(v/unit) * unit
			rest[i] -= part[i]
		}
		parts = append(parts, part)
	}
}

// sums adds the rows of scores by group, each with its unit's weight, or once if weights is nil.
// A group has a slice of numbers, of so many parts.
func (r *meanGolds) sums(of *meanScores, parts int, weights []int32, s *scratch) [][]float64 {
	width := of.after + len(r.columns)*parts
	sums, _ := s.floats(len(r.ends)*width, 0)
	s.times = zeros(s.times, len(r.units))
	for i, u := range r.units {
		s.times[i] = 1
		if weights != nil {
			s.times[i] = weights[u]
		}
	}
	out := make([][]float64, len(r.ends))
	from := int32(0)
	for g, to := range r.ends {
		out[g] = sums[g*width:][:width]
		addRows(out[g], of.rows[from:to], s.times[from:to], s)
		from = to
	}
	return out
}

// mean is the mean of a system's scores over some cells, from their sums; NaN without a cell.
func (m *meanScores) mean(sums []float64, system, cells int) float64 {
	if cells == 0 {
		return math.NaN()
	}
	sums = sums[m.after:]
	parts := make([]float64, 0, 4) // on the stack
	for systems := len(sums) / max(m.parts, 1); len(parts) < m.parts; system += systems {
		parts = append(parts, sums[system])
	}
	return numeric.Quotient(parts, cells*m.scale)
}

// golds returns the means of the gold scores under weights.
func (r *meanGolds) golds(weights []int32, s *scratch) (out goldMeans) {
	for _, sums := range r.sums(r.gold, r.gold.parts, weights, s) {
		for sys, column := range r.columns {
			cells := int(sums[column])
			out.cells, out.means = append(out.cells, cells), append(out.means, r.gold.mean(sums, sys, cells))
		}
	}
	return out
}

// drawnGolds are the golds of a draw, held unless they are too many.
func (r *meanGolds) drawnGolds(weights []int32, s *scratch) goldMeans {
	var held *ofDraws[goldMeans]
	if len(r.ends)*len(r.columns) <= 4*len(weights) {
		held = &r.held
	}
	return held.get(s.draw, func() goldMeans { return r.golds(weights, s) })
}

// both returns the means of both scores under weights, by group and system.
func (r *meanRow) both(weights []int32, s *scratch) (gold goldMeans, metric []float64) {
	gold = r.drawnGolds(weights, s)
	metric = make([]float64, 0, len(gold.cells))
	for _, sums := range r.sums(r.metric, r.metric.parts, weights, s) {
		for sys := range r.columns {
			metric = append(metric, r.metric.mean(sums, sys, gold.cells[len(metric)]))
		}
	}
	return gold, metric
}

// means returns the table of means under weights.
func (r *meanRow) means(weights []int32, s *scratch) *Pairs {
	gold, metric := r.both(weights, s)
	out := NewPairs(len(r.ends), len(r.columns))
	for i, cells := range gold.cells {
		if cells > 0 {
			out.Gold[i], out.Metric[i] = gold.means[i], metric[i]
			out.GoldOK[i], out.MetricOK[i] = true, true
		}
	}
	return out
}

func (r *meanRow) weighted(weights []int32, s *scratch) float64 {
	if r.measure.Statistic != StatAccuracy || len(r.ends) > 1 {
		return r.measure.unchecked(r.means(weights, s)).Value
	}
	gold, metric, ok := r.ordered(weights, s)
	if !ok {
		means := r.ofSystems(weights, s)
		gold, metric = means.Gold, means.Metric
	}
	value, _ := PairwiseAccuracy(gold, metric)
	return value
}

// ordered returns mean gold scores of systems and numbers that order them as their mean scores do:
// the sums of the first parts of these. It is not ok if the other parts could change the order.
func (r *meanRow) ordered(weights []int32, s *scratch) (gold, metric []float64, ok bool) {
	if r.metric.parts < 2 || r.columns[len(r.columns)-1] > 0 {
		return nil, nil, false
	}
	means := r.drawnGolds(weights, s)
	metric = r.sums(r.metric, 1, weights, s)[0]
	far := 2 * float64(means.cells[0]) * r.metric.rest
	sorted := slices.Sorted(slices.Values(metric))
	for i, v := range sorted[1:] {
		if !(v-sorted[i] > far) {
			return nil, nil, false
		}
	}
	return means.means, metric, true
}

// ofSystems returns the means of the systems that have any, for a single group.
func (r *meanRow) ofSystems(weights []int32, s *scratch) (out Row) {
	gold, metric := r.both(weights, s)
	if !slices.Contains(gold.cells, 0) {
		return Row{Gold: gold.means, Metric: metric}
	}
	for i, cells := range gold.cells {
		if cells > 0 {
			out.Gold, out.Metric = append(out.Gold, gold.means[i]), append(out.Metric, metric[i])
		}
	}
	return out
}

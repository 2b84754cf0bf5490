package correlate

import (
	"math"
	"slices"
)

// A row is a prepared part of a table, whose statistic can be computed many times under
// weights of the units: how often a resample drew each.
type row interface {
	// weighted returns NaN if the statistic is undefined. The scratch memory belongs to the
	// calling goroutine.
	weighted(weights []int32, s *scratch) float64
}

var (
	_ row = (*spearmanRow)(nil)
	_ row = (*pearsonRow)(nil)
	_ row = (*calibratedRow)(nil)
	_ row = (*softTable)(nil)
	_ row = (labelsRow)(nil)
	_ row = (*meanRow)(nil)
)

// resampler computes the measure of a table under weights of its units.
type resampler struct {
	rows    []row
	pairs   []*pairsRow // instead of rows, for statistics that count pairs
	whole   *wholeRows  // instead of rows, for vectors of one unit each
	vectors []Row       // of the pairs
	known   *known      // of the table; may be nil
	units   int
	width   int // of the lanes of the pairs
	// pool lists the units to draw from: those with a cell that has both scores. The others
	// are not part of the sample.
	pool      []int32
	effective float64 // number of units; see [Resamples]
	biased    bool    // the resamples of means have more noise than the means
	// elements lists the units of each vector's elements if an undefined vector counts as 0;
	// otherwise it is nil.
	elements [][]int32
}

// newResampler prepares a table. Resamples draw the units that have a pair of scores in from, which
// has the segments and the level of the table.
func newResampler(p, from *Pairs, m Measure, units Units) (*resampler, error) {
	base, drawn := p.Under(), from.Under()
	unit, n, err := units.ofCells(base)
	if err != nil {
		return nil, err
	}
	if base != p {
		if groups, ok := units.ofGroups(p); ok { // no draw changes a mean, and a group drawn twice counts twice
			base, drawn = p, from
			if unit, n, err = groups.ofCells(p); err != nil {
				return nil, err
			}
		}
	}
	rs := &resampler{known: base.known, units: n, biased: base != p}
	rs.pool, rs.effective = pool(drawn, unit, n)
	switch {
	case base != p:
		rs.rows = []row{rs.ofMeans(base, m, p.level.of, p.Segments, unit)}
		return rs, nil
	case m.Statistic == StatAccuracy:
		rs.rows = []row{rs.ofMeans(p, m, make([]int32, p.Segments), 1, unit)}
		return rs, nil
	}
	rows := m.Rows(p)
	for _, r := range rows {
		for i, cell := range r.unit {
			r.unit[i] = unit[cell]
		}
	}
	info := &statistics[m.Statistic]
	whole := m.Grouping == BySegment // vectors of one unit each keep their values
	switch {
	case info.table != nil:
		r, err := info.table(rows, whole)
		if err != nil {
			return nil, err
		}
		rs.rows = []row{r}
	case whole:
		rs.whole = newWholeRows(rows, m)
	default:
		for i, r := range rows {
			rs.add(m, r, i, n, len(rs.pool))
		}
		rs.vectors = rows
	}
	return rs, nil
}

// result returns the measure of the table itself. What is prepared exactly gives the same
// value as the table, at the price of one more resample.
func (rs *resampler) result(m Measure, p *Pairs) (res Result) {
	switch {
	case len(rs.pairs) > 0:
		var s scratch
		ones, value := [][]int32{slices.Repeat([]int32{1}, rs.units)}, make([]float64, 1)
		s.block.pack(ones, rs.width)
		res.mean(rs.vectors, func(i int) float64 {
			rs.pairs[i].values(&s.block, value, &s)
			return value[0]
		}, m.ZeroUndefined)
		return res
	case rs.whole != nil:
		return rs.whole.result
	case len(rs.rows) == 1:
		switch r := rs.rows[0].(type) {
		case *calibratedRow:
			if r.whole != nil {
				return calibratedResult(r.rows, r.calibration)
			}
		case *meanRow:
			if m.Statistic == StatAccuracy {
				return m.of(p, []Row{r.ofSystems(nil, new(scratch))})
			}
		}
	}
	return m.unchecked(p)
}

// ofMeans prepares the means of groups of segments.
func (rs *resampler) ofMeans(p *Pairs, m Measure, of []int32, groups int, unit []int32) *meanRow {
	size, largest := make([]int64, rs.units), int64(0)
	for i, u := range unit {
		if i%p.Systems == 0 {
			size[u]++
			largest = max(largest, size[u])
		}
	}
	r := newMeanRow(p, of, groups, unit, largest*int64(len(rs.pool)))
	r.measure = m
	return r
}

// add prepares one vector, the i-th; see newPairsRow.
func (rs *resampler) add(m Measure, r Row, i, units, most int) {
	if info := &statistics[m.Statistic]; info.pairs != nil {
		k := newPairsRow(r, rs.known.goldRanks(i, r.Gold), units, most, info.pairs)
		rs.width = max(rs.width, k.width())
		rs.pairs = append(rs.pairs, k)
	} else {
		rs.rows = append(rs.rows, info.row(r, rs.known.goldRanks(i, r.Gold)))
	}
	if m.ZeroUndefined {
		rs.elements = append(rs.elements, r.unit)
	}
}

// values computes the statistic of some resamples.
func (rs *resampler) values(weights [][]int32, out []float64, s *scratch) {
	s.block.weights = weights
	if len(rs.pairs) > 0 {
		s.block.pack(weights, rs.width)
	}
	rs.means(&s.block, out, s)
}

// means returns the mean over the vectors with a defined statistic.
func (rs *resampler) means(b *block, out []float64, s *scratch) {
	if rs.whole != nil {
		rs.whole.means(b.weights, out)
		return
	}
	counts, vector := make([]int, len(out)), make([]float64, len(out))
	clear(out)
	add := func(i, k int, v float64) {
		if math.IsNaN(v) && rs.elements != nil && size(rs.elements[i], b.weights[k]) >= 2 {
			v = 0
		}
		if !math.IsNaN(v) {
			out[k] += v
			counts[k]++
		}
	}
	for i, r := range rs.rows {
		for k, w := range b.weights {
			s.draw = b.draw(k)
			add(i, k, r.weighted(w, s))
		}
	}
	for i, r := range rs.pairs {
		r.values(b, vector, s)
		for k, v := range vector {
			add(i, k, v)
		}
	}
	for k, n := range counts {
		out[k] /= float64(n) // NaN without vectors
	}
}

// together is the number of resamples to compute at once.
func (rs *resampler) together() int {
	if len(rs.pairs) > 0 {
		return laneCapacity(rs.width)
	}
	return 8
}

// size is the number of elements under weights.
func size(units, weights []int32) int64 {
	var n int64
	for _, u := range units {
		n += int64(weights[u])
	}
	return n
}

// sums are the sums of products xx, xy and yy of two vectors.
type sums [3]float64

// correlation returns the correlation of vectors with these sums of products.
func correlation(s sums) float64 {
	xx, xy, yy := s[0], s[1], s[2]
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return clamp(xy / math.Sqrt(xx) / math.Sqrt(yy))
}

// wholeRows are vectors that are drawn whole, each with its unit and value.
type wholeRows struct {
	units  []int32
	values []float64
	result Result // of them all
}

func newWholeRows(rows []Row, m Measure) *wholeRows {
	w := &wholeRows{}
	of := statistics[m.Statistic].vector
	values := w.result.mean(rows, func(i int) float64 { return of(rows[i].Gold, rows[i].Metric) }, m.ZeroUndefined)
	for i, v := range values {
		if !math.IsNaN(v) {
			w.units, w.values = append(w.units, rows[i].unit[0]), append(w.values, v)
		}
	}
	return w
}

// means returns the mean in each resample. It adds up four at once, as none waits for another.
func (r *wholeRows) means(weights [][]int32, out []float64) {
	for from := 0; from < len(out); from += 4 {
		last := len(out) - 1
		w0, w1, w2, w3 := weights[from], weights[min(from+1, last)], weights[min(from+2, last)], weights[min(from+3, last)]
		var sums, n [4]float64
		for i, u := range r.units {
			v := r.values[i]
			t0, t1, t2, t3 := float64(w0[u]), float64(w1[u]), float64(w2[u]), float64(w3[u])
			sums[0] += float64(t0 * v)
			sums[1] += float64(t1 * v)
			sums[2] += float64(t2 * v)
			sums[3] += float64(t3 * v)
			n[0] += t0
			n[1] += t1
			n[2] += t2
			n[3] += t3
		}
		for k := range out[from:min(from+4, len(out))] {
			out[from+k] = sums[k] / n[k]
		}
	}
}

// scratch is memory that a goroutine reuses for each resample.
type scratch struct {
	x, y         []float64
	times, drawn []int32
	block        block
	nodes, sums  []lanes
	weights      []int32
	rows         [][]int32
	draw         *uint8 // the place of the held draw that the weights are of, nil without one
}

// floats returns slices of n and m zeros.
func (s *scratch) floats(n, m int) (x, y []float64) {
	s.x, s.y = zeros(s.x, n), zeros(s.y, m)
	return s.x, s.y
}

// lanes returns slices of n and m zeros.
func (s *scratch) lanes(n, m int) (x, y []lanes) {
	s.nodes, s.sums = zeros(s.nodes, n), zeros(s.sums, m)
	return s.nodes, s.sums
}

func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

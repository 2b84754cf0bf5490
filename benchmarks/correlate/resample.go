package correlate

import (
	"math"
	"slices"
)

// A row is a part of a table, prepared once, whose statistic can be taken
// many times under weights of the segments: how often a resample drew each.
type row interface {
	// weighted returns NaN where the statistic is undefined. The scratch
	// memory belongs to the calling goroutine.
	weighted(weights []int32, s *scratch) float64
}

var (
	_ row = (*kendallRow)(nil)
	_ row = (*spearmanRow)(nil)
	_ row = (*pearsonRow)(nil)
	_ row = (*accuracyRow)(nil)
	_ row = segmentValues(nil)
)

// resampler gives the statistic of a table under weights of its segments.
type resampler struct {
	rows []row
	// pool lists the segments to draw from: those with a cell that has both
	// scores. The others are no part of the sample.
	pool []int32
}

func newResampler(p *Pairs, s Statistic, g Grouping) *resampler {
	rs := &resampler{}
	for seg := range p.Segments {
		for i := seg * p.Systems; i < (seg+1)*p.Systems; i++ {
			if p.paired(i) {
				rs.pool = append(rs.pool, int32(seg))
				break
			}
		}
	}
	switch {
	case s == StatAccuracy:
		rs.rows = []row{newAccuracyRow(p)}
	case g == BySegment:
		// A resample draws whole segments, so that their values stay.
		values := make(segmentValues, p.Segments)
		var v vectors
		for seg := range values {
			p.gather(&v, g, seg)
			values[seg] = s.of(v.gold, v.metric)
		}
		rs.rows = []row{values}
	default:
		for r := range p.groups(g) {
			var v vectors // kept by the row
			p.gather(&v, g, r)
			rs.rows = append(rs.rows, s.row(v))
		}
	}
	return rs
}

func (s Statistic) row(v vectors) row {
	switch s {
	case StatKendall:
		return newKendallRow(v.gold, v.metric, v.segment)
	case StatSpearman:
		return newSpearmanRow(v.gold, v.metric, v.segment)
	default:
		return newPearsonRow(v.gold, v.metric, v.segment)
	}
}

// weighted returns the mean over the rows for which the statistic is defined.
func (rs *resampler) weighted(weights []int32, s *scratch) float64 {
	var sum float64
	n := 0
	for _, r := range rs.rows {
		if v := r.weighted(weights, s); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// segmentValues is a statistic per segment, NaN where undefined.
type segmentValues []float64

func (values segmentValues) weighted(weights []int32, _ *scratch) float64 {
	var sum float64
	var n int64
	for seg, v := range values {
		if w := weights[seg]; w > 0 && !math.IsNaN(v) {
			sum += float64(float64(w) * v)
			n += int64(w)
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// scratch is memory that one goroutine uses again for each resample.
type scratch struct {
	a, b []int64
	x, y []float64
	sums []systemSum
}

// integers returns two slices of n zeros.
func (s *scratch) integers(n int) (a, b []int64) {
	s.a, s.b = zeros(s.a, n), zeros(s.b, n)
	return s.a, s.b
}

// floats returns slices of n and m zeros.
func (s *scratch) floats(n, m int) (x, y []float64) {
	s.x, s.y = zeros(s.x, n), zeros(s.y, m)
	return s.x, s.y
}

// systemSums returns n empty sums.
func (s *scratch) systemSums(n int) []systemSum {
	s.sums = zeros(s.sums, n)
	return s.sums
}

func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

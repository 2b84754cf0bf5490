package correlate

import (
	"math"
	"math/bits"
	"slices"
)

// Mean is the arithmetic mean of at least one value, exactly so where all
// values are the same.
func Mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v - values[0]
	}
	return values[0] + sum/float64(len(values))
}

// MeanOfEach averages at least one slice with others of its length, element by
// element, as Mean does.
func MeanOfEach(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	column := make([]float64, len(rows))
	for i := range out {
		for r := range rows {
			column[r] = rows[r][i]
		}
		out[i] = Mean(column)
	}
	return out
}

// meanRow gives the mean scores of groups of segments, such as documents, over
// the cells of a table that have both scores. Systems with the same scores in
// another order have the same mean, so that a tie between systems does not hang
// on the last digit: the sums are exact.
type meanRow struct {
	measure         Measure // of the table of means
	groups, systems int
	segments        []meanSegment
	// numbers holds, for each segment and system, 1 where there are both
	// scores, the parts of the gold score, and those of the metric score.
	numbers             []float64
	width, gold, metric int // of the numbers of a cell, of the parts of a score
}

type meanSegment struct{ unit, group int32 }

// newMeanRow takes the group of each segment, negative for none, and the unit
// of each cell, the segments by default. No sum is of more than the given
// number of cells.
func newMeanRow(p *Pairs, of []int32, groups int, unit []int32, most int64) *meanRow {
	gold, metric := slices.Clone(p.Gold), slices.Clone(p.Metric)
	for i := range gold {
		if !p.paired(i) {
			gold[i], metric[i] = 0, 0
		}
	}
	golds, metrics := exactParts(gold, most), exactParts(metric, most)
	r := &meanRow{groups: groups, systems: p.Systems, gold: len(golds), metric: len(metrics)}
	r.width = 1 + r.gold + r.metric
	for seg := range p.Segments {
		if of[seg] < 0 || p.Systems == 0 {
			continue
		}
		from := p.Index(seg, 0)
		s := meanSegment{int32(seg), of[seg]}
		if unit != nil {
			s.unit = unit[from]
		}
		r.segments = append(r.segments, s)
		for i := from; i < from+p.Systems; i++ {
			paired := 0.0
			if p.paired(i) {
				paired = 1
			}
			r.numbers = append(r.numbers, paired)
			for _, part := range slices.Concat(golds, metrics) {
				r.numbers = append(r.numbers, part[i])
			}
		}
	}
	return r
}

// exactParts splits numbers into sums of parts, so that no sum of a part, over
// at most so many of the numbers, is rounded. Two parts are usual.
func exactParts(x []float64, most int64) [][]float64 {
	rest := slices.Clone(x)
	var parts [][]float64
	for {
		largest := 0.0
		for _, v := range rest {
			largest = max(largest, math.Abs(v))
		}
		if largest == 0 {
			return parts
		}
		// The part is a multiple of a unit: its sums fit the digits of a float64.
		_, exponent := math.Frexp(largest)
		unit := max(math.Ldexp(1, exponent+bits.Len64(uint64(most))-52), math.SmallestNonzeroFloat64)
		part := make([]float64, len(rest))
		for i, v := range rest {
			part[i] = math.Round(v/unit) * unit
			rest[i] -= part[i]
		}
		parts = append(parts, part)
	}
}

// sums adds up the numbers of all segments by group, each as many times as
// weights say of its unit, once where weights is nil.
func (r *meanRow) sums(weights []int32, s *scratch) []float64 {
	width := r.systems * r.width
	sums, _ := s.floats(r.groups*width, 0)
	for i, seg := range r.segments {
		w := 1.0
		if weights != nil {
			if w = float64(weights[seg.unit]); w == 0 {
				continue
			}
		}
		from := r.numbers[i*width : (i+1)*width]
		to := sums[int(seg.group)*width:][:len(from)]
		for k, v := range from {
			to[k] += float64(w * v)
		}
	}
	return sums
}

// cell returns the means of a cell of the table of means, and of how many cells
// they are; NaN of none.
func (r *meanRow) cell(sums []float64, i int) (gold, metric float64, cells int) {
	sums = sums[i*r.width:][:r.width]
	total := func(parts []float64) float64 {
		var sum float64
		for _, v := range slices.Backward(parts) {
			sum += v
		}
		return sum / sums[0]
	}
	return total(sums[1 : 1+r.gold]), total(sums[1+r.gold:]), int(sums[0])
}

// means returns the table of means under weights.
func (r *meanRow) means(weights []int32, s *scratch) *Pairs {
	sums := r.sums(weights, s)
	out := NewPairs(r.groups, r.systems)
	for i := range out.Gold {
		gold, metric, cells := r.cell(sums, i)
		if cells > 0 {
			out.Gold[i], out.Metric[i] = gold, metric
			out.GoldOK[i], out.MetricOK[i] = true, true
		}
	}
	return out
}

func (r *meanRow) weighted(weights []int32, s *scratch) float64 {
	if r.measure.Statistic != StatAccuracy || r.groups > 1 {
		return r.measure.of(r.means(weights, s)).Value
	}
	sums := r.sums(weights, s)
	var gold, metric []float64
	for i := range r.systems {
		if g, m, cells := r.cell(sums, i); cells > 0 {
			gold, metric = append(gold, g), append(metric, m)
		}
	}
	value, _ := PairwiseAccuracy(gold, metric)
	return value
}

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
	measure Measure     // for the table of means
	units   []int32     // unit of each row, sorted by group; rows of nil units are of all
	ends    []int32     // end of each group's rows
	rows    [][]float64 // numbers to sum: those of a unit's segments in a group
	width   int         // of a row
	systems []meanSystem
	parts   [2]int // number of parts of a gold and of a metric score
	scale   [2]int // what these are multiplied by
}

// meanSystem says which numbers of a row belong to a system: how many cells have both scores, and
// the first of those with the parts of the scores. Systems with the same cells share the former.
type meanSystem struct{ paired, scores int }

// newMeanRow takes the group of each segment and the unit of each cell, by default a single one.
// No sum covers more than the given number of cells.
func newMeanRow(p *Pairs, of []int32, groups int, unit []int32, most int64) *meanRow {
	r := &meanRow{systems: make([]meanSystem, p.Systems)}
	scores := [2][]float64{make([]float64, len(p.Gold)), make([]float64, len(p.Gold))}
	for i := range p.Gold {
		if p.paired(i) {
			scores[0][i], scores[1][i] = p.Gold[i], p.Metric[i]
		}
	}
	var parts [][]float64
	for which, of := range scores {
		var split [][]float64
		split, r.scale[which] = exactParts(of, most)
		parts, r.parts[which] = append(parts, split...), len(split)
	}
	for sys := range r.systems {
		paired := r.width
		if sys > 0 && p.sameCells(sys-1, sys) {
			paired = r.systems[sys-1].paired
		} else {
			r.width++
		}
		r.systems[sys] = meanSystem{paired, r.width}
		r.width += len(parts)
	}
	order, ends := sortByRank(nil, of, groups)
	row := make([]int32, 0, len(order)) // of each segment in the order
	from := int32(0)
	for _, to := range ends {
		first := map[int32]int32{}
		for _, seg := range order[from:to] {
			u := int32(0)
			if unit != nil && p.Systems > 0 {
				u = unit[p.Index(int(seg), 0)]
			}
			k, ok := first[u]
			if !ok {
				k = int32(len(r.units))
				first[u], r.units = k, append(r.units, u)
			}
			row = append(row, k)
		}
		from, r.ends = to, append(r.ends, int32(len(r.units)))
	}
	r.rows = make([][]float64, len(r.units))
	numbers := make([]float64, len(r.units)*r.width)
	for i := range r.rows {
		r.rows[i] = numbers[i*r.width:][:r.width]
	}
	for k, seg := range order {
		to := r.rows[row[k]]
		for sys, s := range r.systems {
			if i := p.Index(int(seg), sys); p.paired(i) {
				if s.paired == s.scores-1 { // not shared with an earlier one
					to[s.paired]++
				}
				for c, part := range parts {
					to[s.scores+c] += part[i]
				}
			}
		}
	}
	return r
}

// sameCells reports whether two systems have both scores in the same segments.
func (p *Pairs) sameCells(a, b int) bool {
	for seg := range p.Segments {
		if p.paired(p.Index(seg, a)) != p.paired(p.Index(seg, b)) {
			return false
		}
	}
	return true
}

// exactParts splits numbers into parts, so that a part's sum over at most this many of the
// numbers is not rounded. Usually two parts are enough. Numbers with few decimals are
// multiplied by a power of ten, which makes them whole.
func exactParts(x []float64, most int64) (parts [][]float64, scale int) {
	if whole, scale := wholeNumbers(x, most); scale > 0 {
		return [][]float64{whole}, scale
	}
	rest := slices.Clone(x)
	for {
		largest := 0.0
		for _, v := range rest {
			largest = max(largest, math.Abs(v))
		}
		if largest == 0 {
			return parts, 1
		}
		// The part is a multiple of a unit, so its sums fit the digits of a float64.
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

// wholeNumbers multiplies numbers by the power of ten that makes all whole, and returns it; 0
// if there is none, or their sums could be rounded.
func wholeNumbers(x []float64, most int64) (whole []float64, scale int) {
	const exact, mostDecimals = 1 << 53, 9
	whole = make([]float64, len(x))
next:
	for scale, k := 1, 0; k <= mostDecimals; scale, k = 10*scale, k+1 {
		by := float64(scale)
		for i, v := range x {
			if whole[i] = math.Round(v * by); whole[i]/by != v {
				continue next
			}
			if max(by, math.Abs(whole[i]))*float64(most) > exact {
				return nil, 0
			}
		}
		return whole, scale
	}
	return nil, 0
}

// sums adds the rows by group, each with its unit's weight, or once if weights is nil.
func (r *meanRow) sums(weights []int32, s *scratch) []float64 {
	sums, _ := s.floats(len(r.ends)*r.width, 0)
	s.times = zeros(s.times, len(r.units))
	for i, u := range r.units {
		s.times[i] = 1
		if weights != nil {
			s.times[i] = weights[u]
		}
	}
	from := int32(0)
	for g, to := range r.ends {
		addRows(sums[g*r.width:][:r.width], r.rows[from:to], s.times[from:to], s)
		from = to
	}
	return sums
}

// cell returns the means of a system in a group, and the number of cells; NaN if there are
// none.
func (r *meanRow) cell(sums []float64, group, system int) (gold, metric float64, cells int) {
	sums = sums[group*r.width:][:r.width]
	s := r.systems[system]
	metrics := s.scores + r.parts[0]
	if cells = int(sums[s.paired]); cells == 0 {
		return math.NaN(), math.NaN(), 0
	}
	return numeric.Quotient(sums[s.scores:metrics], cells*r.scale[0]), numeric.Quotient(sums[metrics:metrics+r.parts[1]], cells*r.scale[1]), cells
}

// means returns the table of means under weights.
func (r *meanRow) means(weights []int32, s *scratch) *Pairs {
	sums := r.sums(weights, s)
	out := NewPairs(len(r.ends), len(r.systems))
	for i := range out.Gold {
		gold, metric, cells := r.cell(sums, i/out.Systems, i%out.Systems)
		if cells > 0 {
			out.Gold[i], out.Metric[i] = gold, metric
			out.GoldOK[i], out.MetricOK[i] = true, true
		}
	}
	return out
}

func (r *meanRow) weighted(weights []int32, s *scratch) float64 {
	if r.measure.Statistic != StatAccuracy || len(r.ends) > 1 {
		return r.measure.unchecked(r.means(weights, s)).Value
	}
	means := r.ofSystems(weights, s)
	value, _ := PairwiseAccuracy(means.Gold, means.Metric)
	return value
}

// ofSystems returns the means of the systems that have any, for a single group.
func (r *meanRow) ofSystems(weights []int32, s *scratch) (out Row) {
	sums := r.sums(weights, s)
	for i := range r.systems {
		if gold, metric, cells := r.cell(sums, 0, i); cells > 0 {
			out.Gold, out.Metric = append(out.Gold, gold), append(out.Metric, metric)
		}
	}
	return out
}

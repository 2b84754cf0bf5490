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
	units   []int32     // of the segments, sorted by group; nil for single ones
	ends    []int32     // end of each group
	columns [][]float64 // numbers of the segments, or of units, to sum
	systems []meanSystem
	parts   [2]int // number of parts of a gold and of a metric score
	scale   [2]int // what these are multiplied by
}

// meanSystem says which columns belong to a system: the one with 1 for each cell that has
// both scores, and the first of those with the parts of the scores. Systems with the same
// cells share the former.
type meanSystem struct{ paired, scores int }

// newMeanRow takes the group of each segment and the unit of each cell, by default its
// segment. No sum covers more than the given number of cells.
func newMeanRow(p *Pairs, of []int32, groups int, unit []int32, most int64) *meanRow {
	order, ends := sortByRank(nil, of, groups)
	r := &meanRow{ends: ends, systems: make([]meanSystem, p.Systems)}
	n := len(order)
	paired, gold, metric := make([]float64, n*p.Systems), make([]float64, n*p.Systems), make([]float64, n*p.Systems)
	for k, seg := range order {
		for sys := range p.Systems {
			if i := p.Index(int(seg), sys); p.paired(i) {
				at := sys*n + k
				paired[at], gold[at], metric[at] = 1, p.Gold[i], p.Metric[i]
			}
		}
		if unit != nil && p.Systems > 0 {
			r.units = append(r.units, unit[p.Index(int(seg), 0)])
		}
	}
	var golds, metrics [][]float64
	golds, r.scale[0] = exactParts(gold, most)
	metrics, r.scale[1] = exactParts(metric, most)
	r.parts = [2]int{len(golds), len(metrics)}
	for sys := range r.systems {
		cells := paired[sys*n : (sys+1)*n]
		s := meanSystem{len(r.columns), len(r.columns) + 1}
		if sys > 0 && slices.Equal(cells, r.columns[r.systems[sys-1].paired]) {
			s = meanSystem{r.systems[sys-1].paired, len(r.columns)}
		} else {
			r.columns = append(r.columns, cells)
		}
		for _, part := range slices.Concat(golds, metrics) {
			r.columns = append(r.columns, part[sys*n:(sys+1)*n])
		}
		r.systems[sys] = s
	}
	r.mergeUnits()
	return r
}

// mergeUnits sums the numbers of a unit's segments within a group, which are drawn
// together.
func (r *meanRow) mergeUnits() {
	if r.units == nil {
		return
	}
	at := make([]int, len(r.units)) // position of the sum of each segment's unit
	ends := make([]int32, len(r.ends))
	var units []int32
	from := int32(0)
	for g, to := range r.ends {
		first := map[int32]int{}
		for i := from; i < to; i++ {
			k, ok := first[r.units[i]]
			if !ok {
				k = len(units)
				first[r.units[i]] = k
				units = append(units, r.units[i])
			}
			at[i] = k
		}
		from, ends[g] = to, int32(len(units))
	}
	if len(units) == len(r.units) {
		return
	}
	for k, column := range r.columns {
		sums := make([]float64, len(units))
		for i, v := range column {
			sums[at[i]] += v
		}
		r.columns[k] = sums
	}
	r.units, r.ends = units, ends
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

// sums adds the columns by group, each segment with its unit's weight, or once if weights
// is nil.
func (r *meanRow) sums(weights []int32, s *scratch) []float64 {
	if len(r.columns) == 0 {
		return nil
	}
	sums, times := s.floats(len(r.ends)*len(r.columns), len(r.columns[0]))
	for i := range times {
		times[i] = 1
		if weights != nil {
			times[i] = float64(weights[r.units[i]])
		}
	}
	from := int32(0)
	for g, to := range r.ends {
		out := sums[g*len(r.columns):]
		for k, column := range r.columns {
			out[k] = sumOfProducts(times[from:to], column[from:to])
		}
		from = to
	}
	return sums
}

// sumOfProducts adds in four lanes, which is faster.
func sumOfProducts(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// cell returns the means of a system in a group, and the number of cells; NaN if there are
// none.
func (r *meanRow) cell(sums []float64, group, system int) (gold, metric float64, cells int) {
	sums = sums[group*len(r.columns):][:len(r.columns)]
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

package correlate

import (
	"math"
	"slices"
)

// Exchange computes the measure of two metrics after exchanges of their scores, for
// permutation tests. It is safe for concurrent use.
type Exchange struct {
	a, b    []Row
	measure Measure
	// One of these computes the measure. Without any it is computed anew, from the vectors.
	pairs    []*exchangedPairs // of each vector with several elements
	prepared *resampler        // of vectors with the scores of both metrics, which draws one of them for each
	means    *exchangedMeans   // bounds of what prepared computes, if vectors are exchanged whole
	soft     *softTable
	golds    []uint16 // of soft: p-values of the gold scores; nil if these are all equal

	unit  []int32 // of each element
	units int     // that are exchanged
}

// NewExchange takes the vectors of both metrics, with the same elements and gold scores,
// such as [Measure.Rows] returns for tables from [Align]. The elements of a unit are
// exchanged together; with nil, each is exchanged separately.
func NewExchange(a, b []Row, m Measure, unit []int32, units int) *Exchange {
	whole := unit != nil && wholeVectors(a, unit)
	if unit == nil {
		for _, r := range a {
			for range r.Gold {
				unit = append(unit, int32(len(unit)))
			}
		}
		units = len(unit)
	}
	e := &Exchange{a: a, b: b, measure: m, unit: unit, units: units}
	var rows []Row // of both metrics, where score k of bit i is drawn as unit 2·i+k
	elements := 0
	for i, r := range a {
		row := Row{Gold: slices.Concat(r.Gold, r.Gold), Metric: slices.Concat(r.Metric, b[i].Metric)}
		for which := range int32(2) {
			for k := range r.Gold {
				row.unit = append(row.unit, 2*unit[elements+k]+which)
			}
		}
		rows = append(rows, row)
		elements += len(r.Gold)
	}
	switch info := &statistics[m.Statistic]; {
	case m.Statistic == StatSoftAccuracy && len(a) > 1 && len(a[0].Gold) > 0:
		e.soft = newSoftTable(a)
		e.golds = e.soft.goldOf(nil, e.soft.order(nil))
	case m.Statistic.OfSystems():
	case whole && (info.vector != nil || info.table != nil): // a vector has the value of one metric or of the other
		var both []Row
		for i, r := range a {
			for which, scores := range [][]float64{r.Metric, b[i].Metric} {
				both = append(both, Row{Gold: r.Gold, Metric: scores, unit: rows[i].unit[which*len(scores):][:len(scores)]})
			}
		}
		if info.vector != nil {
			whole := newWholeRows(both, m)
			e.prepared, e.means = &resampler{whole: whole}, newExchangedMeans(whole, units)
		} else if r, err := info.table(both, true); err == nil { // otherwise there are too many pairs
			e.prepared = &resampler{rows: []row{r}}
		}
	case m.Statistic.Calibrated():
		if r, err := newCalibratedRow(rows, false, commonUnit(a)); err == nil {
			e.prepared = &resampler{rows: []row{r}}
		}
	case info.vector == nil: // computed anew
	case info.pairs != nil:
		for _, r := range rows {
			if len(r.Gold) > 2 {
				e.pairs = append(e.pairs, newExchangedPairs(r, info.pairs))
			}
		}
	default:
		e.prepared = &resampler{}
		for i, r := range rows {
			e.prepared.add(m, r, i, 2*e.units, e.units)
		}
	}
	return e
}

// wholeVectors reports whether each vector has only elements of one unit.
func wholeVectors(rows []Row, unit []int32) bool {
	first := 0
	for _, r := range rows {
		of := unit[first:][:len(r.Gold)]
		first += len(of)
		if slices.ContainsFunc(of, func(u int32) bool { return u != of[0] }) {
			return false
		}
	}
	return true
}

// Units is the number of units, or of elements of all vectors, that are exchanged.
func (e *Exchange) Units() int { return e.units }

// Values returns the values of both metrics after an exchange. Bit i of the mask is set if the
// scores of unit i, or of element i, are exchanged; elements are numbered through the vectors. A
// value is NaN if undefined.
func (e *Exchange) Values(mask []uint64) (a, b float64) { return e.values(mask, new(scratch)) }

func (e *Exchange) values(mask []uint64, s *scratch) (a, b float64) {
	switch {
	case e.prepared != nil:
		var out [2]float64
		e.prepared.values([][]int32{weights(mask, e.units, 0), weights(mask, e.units, 1)}, out[:], s)
		return out[0], out[1]
	case e.pairs != nil:
		var sum, n [2]float64
		for _, p := range e.pairs {
			for which := range sum {
				if v := p.value(mask, int32(which), s); !math.IsNaN(v) {
					sum[which] += v
					n[which]++
				} else if e.measure.ZeroUndefined {
					n[which]++
				}
			}
		}
		return sum[0] / n[0], sum[1] / n[1]
	}
	return e.anew(mask)
}

// Worker returns a function, for one goroutine, that computes by how much the value of the first
// metric is larger after an exchange; an undefined value counts as 0. If settled reports that all
// differences between two bounds mean the same, the function may return any of these, for less
// work.
func (e *Exchange) Worker(settled func(low, high float64) bool) func(mask []uint64) float64 {
	var s scratch
	defined := func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return v
	}
	rounds := []bool{false, true} // whether bounds count tied pairs
	if !slices.ContainsFunc(e.pairs, func(p *exchangedPairs) bool { return p.elements > few }) {
		rounds = rounds[1:]
	}
	return func(mask []uint64) float64 {
		for _, counts := range rounds {
			if middle, half := e.bounds(mask, counts, &s); settled(middle-half, middle+half) {
				return middle
			}
		}
		a, b := e.values(mask, &s)
		return defined(a) - defined(b)
	}
}

// bounds returns between what the difference certainly is; half is infinite if that is not known.
// They are closer, for more work, if it counts the pairs that the metrics tie.
func (e *Exchange) bounds(mask []uint64, counts bool, s *scratch) (middle, half float64) {
	const rounding = 1e-12
	if e.means != nil {
		return e.means.bounds(mask)
	}
	n := 0.0
	for _, p := range e.pairs {
		if m, h, ok := p.bounds(mask, counts, s); ok || e.measure.ZeroUndefined {
			middle, half, n = middle+m, half+h, n+1
		}
	}
	if n == 0 {
		return 0, math.Inf(1)
	}
	return middle / n, half/n + rounding
}

// weights returns the weights of each unit's two scores for one of the metrics.
func weights(mask []uint64, units int, which int32) []int32 {
	out := make([]int32, 2*units)
	for i := range units {
		out[2*i+int(which^exchanged(mask, i))] = 1
	}
	return out
}

// exchanged is 1 if the scores of a unit are exchanged.
func exchanged(mask []uint64, i int) int32 { return int32(mask[i>>6] >> (i & 63) & 1) }

// anew computes the measure of the vectors after an exchange.
func (e *Exchange) anew(mask []uint64) (float64, float64) {
	x, y, elements := make([]Row, len(e.a)), make([]Row, len(e.a)), 0
	for r, from := range e.a {
		x[r], y[r] = Row{Gold: from.Gold, Metric: slices.Clone(from.Metric)}, Row{Gold: from.Gold, Metric: slices.Clone(e.b[r].Metric)}
		for i := range from.Metric {
			if exchanged(mask, int(e.unit[elements+i])) == 1 {
				x[r].Metric[i], y[r].Metric[i] = y[r].Metric[i], x[r].Metric[i]
			}
		}
		elements += len(from.Metric)
	}
	value := func(rows []Row) float64 {
		if e.soft != nil {
			return softOf(e.golds, e.soft.pValues(newSoftScores(rows, rowMetric), e.soft.order(nil)))
		}
		return e.measure.Over(rows).Value
	}
	return value(x), value(y)
}

package correlate

import "slices"

// Exchange computes the measure of two metrics after exchanges of their scores, for
// permutation tests. It is safe for concurrent use.
type Exchange struct {
	a, b     []Row
	measure  Measure
	elements int
	// prepared has vectors with the scores of both metrics; each exchange leaves every element
	// one score for each metric. It is nil if the measure is computed anew.
	prepared *resampler
	soft     *softExchange
	first    []int   // element of each vector
	unit     []int32 // of each element, if elements are exchanged together
	units    int     // number of units or elements that are exchanged
	// together says whether units are weighted as a whole. Otherwise they are exchanged
	// element by element, because many vectors have few elements of each.
	together bool
}

// NewExchange takes the vectors of both metrics, with the same elements and gold scores,
// such as [Measure.Rows] returns for tables from [Align]. The elements of a unit are
// exchanged together; with nil, each is exchanged separately.
func NewExchange(a, b []Row, m Measure, unit []int32, units int) *Exchange {
	e := &Exchange{a: a, b: b, measure: m, unit: unit, units: units}
	whole := unit != nil && statistics[m.Statistic].vector != nil && wholeVectors(a, unit)
	e.together = unit != nil && (len(a) == 1 || whole)
	var rows []Row
	for i, r := range a {
		row := Row{Gold: slices.Concat(r.Gold, r.Gold), Metric: slices.Concat(r.Metric, b[i].Metric)}
		for which := range int32(2) {
			for k := range r.Gold {
				drawn := int32(e.elements + k)
				if e.together {
					drawn = e.drawn(e.elements + k)
				}
				row.unit = append(row.unit, 2*drawn+which)
			}
		}
		rows, e.first = append(rows, row), append(e.first, e.elements)
		e.elements += len(r.Gold)
	}
	if unit == nil {
		e.units = e.elements
	}
	switch {
	case m.Statistic == StatSoftAccuracy && len(a) > 1 && len(a[0].Gold) > 0:
		e.soft = newSoftExchange(a, b)
	case m.Statistic.OfSystems():
	case m.Statistic.Calibrated():
		if r, err := newCalibratedRow(rows, false); err == nil { // otherwise there are too many pairs
			r.unit = commonUnit(a)
			e.prepared = &resampler{rows: []row{r}}
		}
	case statistics[m.Statistic].vector == nil: // computed anew
	case whole: // a vector has the value of one metric or of the other
		e.prepared = &resampler{}
		var both []Row
		for i, r := range a {
			for which, scores := range [][]float64{r.Metric, b[i].Metric} {
				both = append(both, Row{Gold: r.Gold, Metric: scores, unit: rows[i].unit[which*len(scores):][:len(scores)]})
			}
		}
		e.prepared.rows = []row{newWholeRows(both, m)}
	default:
		e.prepared = &resampler{}
		first := int32(0)
		for i, r := range rows {
			n := len(r.Gold)
			if e.together {
				e.prepared.add(m, r, i, 0, 2*units, units)
				continue
			}
			e.prepared.add(m, r, i, first, n, n*n/4) // pairs of one metric, and elements
			first += int32(n)
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

// ofElements converts masks of units to masks of elements.
func (e *Exchange) ofElements(masks [][]uint64) [][]uint64 {
	if e.unit == nil {
		return masks
	}
	out := make([][]uint64, len(masks))
	for k, mask := range masks {
		out[k] = make([]uint64, (e.elements+63)/64)
		for i, u := range e.unit {
			out[k][i>>6] |= uint64(exchanged(mask, int(u))) << (i & 63)
		}
	}
	return out
}

// drawn returns the bit that says whether an element is exchanged.
func (e *Exchange) drawn(element int) int32 {
	if e.unit == nil {
		return int32(element)
	}
	return e.unit[element]
}

// Together is the number of exchanges to compute at once.
func (e *Exchange) Together() int {
	if e.prepared == nil {
		return 1
	}
	return e.prepared.together()
}

// Worker returns a function that computes the values of both metrics after at most
// [Exchange.Together] exchanges, for one goroutine. Bit i of a mask is set if the scores of
// unit i, or of element i, are exchanged; elements are numbered through the vectors. A
// value is NaN if undefined.
func (e *Exchange) Worker() func(masks [][]uint64) (a, b []float64) {
	var s scratch
	return func(masks [][]uint64) ([]float64, []float64) {
		out := [2][]float64{make([]float64, len(masks)), make([]float64, len(masks))}
		if e.prepared == nil {
			for k, mask := range masks {
				out[0][k], out[1][k] = e.anew(mask)
			}
			return out[0], out[1]
		}
		if e.together {
			for which := range out {
				e.prepared.values(weights(masks, e.units, int32(which)), out[which], &s)
			}
			return out[0], out[1]
		}
		masks = e.ofElements(masks)
		s.block.packExchanges(masks, e.elements, max(e.prepared.width, narrowest))
		for which := range out {
			s.block.second = which == 1
			if len(e.prepared.rows) > 0 {
				s.block.weights = weights(masks, e.elements, int32(which))
			}
			e.prepared.means(&s.block, out[which], &s)
		}
		return out[0], out[1]
	}
}

// weights returns the weights of each unit's two scores for one of the metrics.
func weights(masks [][]uint64, units int, which int32) [][]int32 {
	out := make([][]int32, len(masks))
	for k, mask := range masks {
		out[k] = make([]int32, 2*units)
		for i := range units {
			out[k][2*i+int(which^exchanged(mask, i))] = 1
		}
	}
	return out
}

// exchanged is 1 if the scores of a unit are exchanged.
func exchanged(mask []uint64, i int) int32 { return int32(mask[i>>6] >> (i & 63) & 1) }

// anew computes the measure of the vectors after an exchange.
func (e *Exchange) anew(mask []uint64) (float64, float64) {
	x, y := make([]Row, len(e.a)), make([]Row, len(e.a))
	for r, from := range e.a {
		x[r], y[r] = Row{Gold: from.Gold, Metric: slices.Clone(from.Metric)}, Row{Gold: from.Gold, Metric: slices.Clone(e.b[r].Metric)}
		for i := range from.Metric {
			if exchanged(mask, int(e.drawn(e.first[r]+i))) == 1 {
				x[r].Metric[i], y[r].Metric[i] = y[r].Metric[i], x[r].Metric[i]
			}
		}
	}
	if e.soft != nil {
		return e.soft.values(x)
	}
	return e.measure.Over(x).Value, e.measure.Over(y).Value
}

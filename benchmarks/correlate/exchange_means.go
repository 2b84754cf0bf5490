package correlate

import "math"

// exchangedMeans are the mean values of the vectors of two metrics after exchanges of whole vectors:
// each unit adds one number to the difference of their sums, with the sign that the exchange gives
// it, and one to the difference of how many are defined.
type exchangedMeans struct {
	values []float64 // of the first metric less those of the second, in each unit
	counts []int32   // so too
	sum    float64   // of both metrics
	n      int32
	size   float64 // the sum of all magnitudes
}

// newExchangedMeans takes vectors whose unit is twice a bit, and one more for the second metric.
func newExchangedMeans(w *wholeRows, units int) *exchangedMeans {
	e := &exchangedMeans{values: make([]float64, units), counts: make([]int32, units), n: int32(len(w.units))}
	for i, u := range w.units {
		sign := 1 - 2*(u&1)
		e.values[u>>1] += float64(sign) * w.values[i]
		e.counts[u>>1] += sign
		e.sum += w.values[i]
		e.size += math.Abs(w.values[i])
	}
	return e
}

// bounds returns between what the difference of the means certainly is after an exchange; half is
// infinite if one is undefined.
func (e *exchangedMeans) bounds(mask []uint64) (middle, half float64) {
	var less float64
	var fewer int32
	for i, v := range e.values {
		sign := 1 - 2*exchanged(mask, i)
		less += float64(sign) * v
		fewer += sign * e.counts[i]
	}
	a, b := 2/float64(e.n+fewer), 2/float64(e.n-fewer) // one over how many each has
	if math.IsInf(a+b, 1) {
		return 0, math.Inf(1)
	}
	// With sums v and w it is av - bw, or (v-w)(a+b)/2 + (v+w)(a-b)/2. Sums of n numbers are within n
	// roundings of all magnitudes.
	const rounding = 0x1p-52
	return less*(a+b)/2 + e.sum*(a-b)/2, 2 * rounding * float64(e.n) * e.size * (a + b)
}

package correlate

import (
	"math"
	"slices"
)

// Pearson returns Pearson's correlation of two aligned vectors of finite numbers, in [-1,
// 1].
//
// It is NaN for fewer than two elements, for a constant vector, and if an element is NaN or
// infinite. Two elements give exactly -1 or 1. Vectors of extreme magnitudes are scaled
// before multiplying, so that nothing overflows or underflows. It panics if the lengths
// differ.
func Pearson(x, y []float64) float64 {
	checkLengths(x, y)
	if len(x) < 2 || isConstant(x) || isConstant(y) {
		return math.NaN()
	}
	x, y = standardMagnitude(x), standardMagnitude(y)
	centre(x)
	centre(y)
	r := correlation(sums{dot(x, x), dot(x, y), dot(y, y)})
	if len(x) == 2 {
		r = math.Round(r)
	}
	return r
}

func isConstant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// standardMagnitude returns a copy of x, multiplied by a power of two if the magnitude of
// its largest element is so far from 1 that sums, or squares of differences in the last
// digit, could exceed the range of float64. A power of two changes no digit.
func standardMagnitude(x []float64) []float64 {
	const limit = 400
	x = slices.Clone(x)
	var largest float64
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	if _, exponent := math.Frexp(largest); exponent < -limit || exponent > limit {
		for i, v := range x {
			x[i] = math.Ldexp(v, -exponent)
		}
	}
	return x
}

// centre subtracts the mean from x.
func centre(x []float64) {
	mean := pairwiseSum(x) / float64(len(x))
	for i := range x {
		x[i] -= mean
	}
}

func dot(a, b []float64) float64 {
	products := make([]float64, len(a))
	for i := range a {
		products[i] = a[i] * b[i]
	}
	return pairwiseSum(products)
}

// pairwiseSum adds x by halves down to blocks of 128 that are added in eight lanes: NumPy's
// order. If the scores have a large offset, the mean decides the last digits of a
// correlation, and this is the mean that SciPy computes.
func pairwiseSum(x []float64) float64 {
	const block, lanes = 128, 8
	n := len(x)
	if n > block {
		half := n / 2
		half -= half % lanes
		return pairwiseSum(x[:half]) + pairwiseSum(x[half:])
	}
	var sum float64
	if n >= lanes {
		lane := [lanes]float64(x)
		x = x[lanes:]
		for ; len(x) >= lanes; x = x[lanes:] {
			for i := range lane {
				lane[i] += x[i]
			}
		}
		sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
	}
	for _, v := range x {
		sum += v
	}
	return sum
}

// pearsonRow holds two vectors at a safe magnitude.
type pearsonRow struct {
	unit []int32
	x, y []float64
}

func newPearsonRow(x, y []float64, unit []int32) *pearsonRow {
	return &pearsonRow{unit, standardMagnitude(x), standardMagnitude(y)}
}

// spread is the weighted mean of a score, and its largest distance from the mean: 0 for a
// constant one.
type spread struct{ mean, scale float64 }

// spreads returns the spread of both vectors, which have n elements.
func (p *pearsonRow) spreads(weights []int32) (n int64, x, y spread) {
	var xSum, ySum float64
	xLow, xHigh := math.Inf(1), math.Inf(-1)
	yLow, yHigh := math.Inf(1), math.Inf(-1)
	for i, u := range p.unit {
		w := weights[u]
		if w == 0 {
			continue
		}
		x, y := p.x[i], p.y[i]
		n += int64(w)
		xSum += float64(float64(w) * x)
		ySum += float64(float64(w) * y)
		xLow, xHigh = min(xLow, x), max(xHigh, x)
		yLow, yHigh = min(yLow, y), max(yHigh, y)
	}
	of := func(sum, low, high float64) spread {
		if !(low < high) {
			return spread{}
		}
		mean := sum / float64(n)
		return spread{mean, max(high-mean, mean-low)}
	}
	return n, of(xSum, xLow, xHigh), of(ySum, yLow, yHigh)
}

// products returns the sums of products of the elements, after subtracting the mean and
// dividing by the scale.
func (p *pearsonRow) products(weights []int32, x, y spread) (out sums) {
	for i, unit := range p.unit {
		w := float64(weights[unit])
		if w == 0 {
			continue
		}
		u, v := (p.x[i]-x.mean)/x.scale, (p.y[i]-y.mean)/y.scale
		out[0] += float64(w * float64(u*u))
		out[1] += float64(w * float64(u*v))
		out[2] += float64(w * float64(v*v))
	}
	return out
}

// weighted returns the correlation of the vectors in which each element of unit u occurs
// weights[u] times, in O(n) time.
func (p *pearsonRow) weighted(weights []int32, _ *scratch) float64 {
	n, x, y := p.spreads(weights)
	if n < 2 || x.scale == 0 || y.scale == 0 {
		return math.NaN()
	}
	// The scale comes from the resample, which may have none of the elements that set the
	// magnitude.
	r := correlation(p.products(weights, x, y))
	if n == 2 {
		r = math.Round(r)
	}
	return r
}

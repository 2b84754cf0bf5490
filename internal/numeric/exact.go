// Package numeric adds numbers without rounding, so that sums and means do not depend on
// their order, and has Student's t distribution, with what it makes of bootstrap intervals from
// few units.
package numeric

import (
	"encoding/json"
	"math"
)

// Sum is an exact sum of finite numbers, held as non-overlapping parts
// (Shewchuk, 1997). The zero Sum is 0.
type Sum struct{ parts []float64 }

// Add adds a number.
func (s *Sum) Add(x float64) {
	n := 0
	for _, y := range s.parts {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			s.parts[n] = low
			n++
		}
		x = high
	}
	s.parts = append(s.parts[:n], x)
}

// AddSum adds another sum.
func (s *Sum) AddSum(o *Sum) {
	for _, part := range o.parts {
		s.Add(part)
	}
}

// MarshalJSON writes numbers that add up exactly to the sum.
func (s *Sum) MarshalJSON() ([]byte, error) { return json.Marshal(s.parts) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Sum) UnmarshalJSON(b []byte) error {
	var parts []float64
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	s.parts = nil
	for _, x := range parts {
		s.Add(x)
	}
	return nil
}

// Value returns the sum, rounded once.
func (s *Sum) Value() float64 {
	i := len(s.parts) - 1
	if i < 0 {
		return 0
	}
	high, low := s.parts[i], 0.0
	for i--; i >= 0 && low == 0; i-- {
		x, y := high, s.parts[i]
		high = x + y
		low = y - (high - x)
	}
	// Half way between two floats, the next smaller part decides.
	if i >= 0 && (low < 0 && s.parts[i] < 0 || low > 0 && s.parts[i] > 0) {
		if x := high + 2*low; 2*low == x-high {
			high = x
		}
	}
	return high
}

// Mean returns the sum divided by n, rounded once.
func (s *Sum) Mean(n int) float64 {
	if mean, ok := quotient(s.parts, float64(n)); ok {
		return mean
	}
	mean := s.Value() / float64(n)
	for !math.IsInf(mean, 0) {
		// The remainder tells whether a neighbouring float is nearer.
		var room [8]float64
		left := Sum{append(room[:0], s.parts...)}
		left.subtract(mean, n)
		side := left.sign()
		if side == 0 {
			break
		}
		next := math.Nextafter(mean, math.Inf(side))
		for i := range left.parts {
			left.parts[i] *= 2
		}
		left.subtract(next-mean, n)
		if nearer := left.sign(); nearer != side {
			if nearer == 0 && math.Float64bits(mean)&1 == 1 {
				return next
			}
			break
		}
		mean = next
	}
	return mean
}

// quotient returns the sum of numbers divided by n, and whether it is certainly the nearest float,
// as it nearly always is: what n times the mean leaves of a compensated sum (Ogita, Rump and Oishi,
// 2005) is less than half of the gap to a neighbour, by more than the compensation can be wrong.
func quotient(values []float64, n float64) (mean float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	sum, low, lost := values[0], 0.0, 0.0
	for _, v := range values[1:] {
		next := sum + v
		part := next - sum
		rounded := (sum - (next - part)) + (v - part)
		sum, low, lost = next, low+rounded, lost+math.Abs(rounded)
	}
	if sum == 0 && lost == 0 {
		return sum / n, n > 0
	}
	value := sum + low
	mean = value / n
	size := math.Abs(mean)
	if size < 1e-200 || math.IsInf(size, 0) { // smaller gaps would be rounded
		return 0, false
	}
	left := (sum - value) + low + math.FMA(-mean, n, value)
	if near := mean + left/n; near != mean { // a neighbour: the sum's rounding was divided, too
		left, mean, size = left-float64((near-mean)*n), near, math.Abs(near)
	}
	gap := size - math.Float64frombits(math.Float64bits(size)-1)
	return mean, math.Abs(left)+float64(float64(len(values))*0x1p-52*lost) < 0.49*gap*n
}

// subtract subtracts n times x.
func (s *Sum) subtract(x float64, n int) {
	product := x * float64(n)
	s.Add(-math.FMA(x, float64(n), -product))
	s.Add(-product)
}

func (s *Sum) sign() int {
	for i := len(s.parts) - 1; i >= 0; i-- {
		switch {
		case s.parts[i] > 0:
			return 1
		case s.parts[i] < 0:
			return -1
		}
	}
	return 0
}

// Mean returns the arithmetic mean of at least one number, rounded once.
func Mean(values []float64) float64 { return Quotient(values, len(values)) }

// Quotient returns the sum of numbers divided by n, rounded once.
func Quotient(values []float64, n int) float64 {
	if mean, ok := quotient(values, float64(n)); ok {
		return mean
	}
	var s Sum
	for _, v := range values {
		s.Add(v)
	}
	return s.Mean(n)
}

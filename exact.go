package refract

import "math"

// exactSum is a sum of finite numbers that does not depend on their order: parts
// that do not overlap add up to it exactly (Shewchuk, 1997).
type exactSum struct{ parts []float64 }

func (s *exactSum) add(x float64) {
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

// value is the sum, rounded once.
func (s *exactSum) value() float64 {
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
	// Half way between two numbers, the part below decides.
	if i >= 0 && (low < 0 && s.parts[i] < 0 || low > 0 && s.parts[i] > 0) {
		if x := high + 2*low; 2*low == x-high {
			high = x
		}
	}
	return high
}

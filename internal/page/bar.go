package page

import (
	"math"
	"strconv"
)

// The inner width of a bar, and the room for its ends on either side.
const (
	barWidth  = 120
	barMargin = 4
)

// scale is the range of values that a group of bars shares.
type scale struct {
	low, high float64
	any       bool
}

// take widens the scale to the finite ones among the values.
func (s *scale) take(values ...float64) {
	for _, f := range values {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		if !s.any {
			s.low, s.high, s.any = f, f, true
		}
		s.low, s.high = min(s.low, f), max(s.high, f)
	}
}

// bar is a drawn interval: positions in a box of Width.
type bar struct {
	Width       int
	Low, High   string
	Value, Zero string // "" for none
}

// bar returns the drawing of an interval, nil where it cannot be drawn. A NaN
// value is left out.
func (s *scale) bar(low, value, high float64) *bar {
	if !s.any || !(s.high > s.low) || math.IsInf(s.high-s.low, 0) || math.IsNaN(low) || math.IsNaN(high) {
		return nil
	}
	b := &bar{Width: barWidth + 2*barMargin, Low: s.at(low), High: s.at(high)}
	if low <= value && value <= high {
		b.Value = s.at(value)
	}
	if s.low <= 0 && 0 <= s.high {
		b.Zero = s.at(0)
	}
	return b
}

// at is the position of a value, which may lie beyond the scale.
func (s *scale) at(f float64) string {
	f = min(max(f, s.low), s.high)
	return strconv.FormatFloat(barMargin+barWidth*(f-s.low)/(s.high-s.low), 'f', 1, 64)
}

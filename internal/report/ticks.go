package report

import "math"

// Decimals is how many decimals tell numbers of a range apart: between a hundred and
// a thousand steps fit into it. It is at least least, and 6 at most.
func Decimals(low, high float64, least int) int {
	span := high - low
	if !(span > 0) || math.IsInf(span, 0) {
		return least
	}
	return min(max(least, 3-int(math.Ceil(math.Log10(span)-1e-9))), 6)
}

// Ticks returns the multiples of 1, 2 or 5 times a power of ten from low to high,
// about five of them, and how many decimals they have. There are none of a range
// that is empty or not finite.
func Ticks(low, high float64) (ticks []float64, digits int) {
	rough := (high - low) / 5
	if !(rough > 0) || math.IsInf(rough, 0) {
		return nil, 0
	}
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, by := range []float64{5, 2} {
		if step*by <= rough*1.4 {
			step *= by
			break
		}
	}
	first := math.Ceil(low / step)
	for k := range int(math.Floor(high/step)-first) + 1 { // counted, as adding 1 to a large number may leave it
		ticks = append(ticks, (first+float64(k))*step+0) // no negative zero
	}
	return ticks, max(0, int(-math.Floor(math.Log10(step)+1e-9)))
}

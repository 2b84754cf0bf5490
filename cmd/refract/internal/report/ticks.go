package report

import "math"

// Decimals returns how many decimals to show for numbers of a range: enough for a hundred
// to a thousand steps, at least least and at most 6.
func Decimals(low, high float64, least int) int {
	span := high - low
	if !(span > 0) || math.IsInf(span, 0) {
		return least
	}
	return min(max(least, 3-int(math.Ceil(math.Log10(span)-1e-9))), 6)
}

// Ticks returns the multiples of 1, 2 or 5 times a power of ten from low to high,
// about five of them, and their number of decimals. An empty or infinite range has none.
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

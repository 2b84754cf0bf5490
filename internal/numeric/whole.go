package numeric

import "math"

// WholeScale is the power of ten, at most 10⁹, that makes numbers whole; 0 if there is none, or sums of
// most of them could be rounded.
func WholeScale(x []float64, most int64) int {
	const exact, mostDecimals = 1 << 53, 9
next:
	for scale, k := 1, 0; k <= mostDecimals; scale, k = 10*scale, k+1 {
		by := float64(scale)
		for _, v := range x {
			whole := math.Round(v * by)
			if whole/by != v {
				continue next
			}
			if max(by, math.Abs(whole))*float64(most) > exact {
				return 0
			}
		}
		return scale
	}
	return 0
}

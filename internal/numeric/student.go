package numeric

import "math"

// StudentTail is the probability that Student's t with this many degrees of freedom exceeds t.
func StudentTail(t, freedom float64) float64 {
	switch {
	case math.IsInf(t, 0):
		return (1 - math.Copysign(1, t)) / 2
	case t < 0:
		return 1 - StudentTail(-t, freedom)
	}
	x, y := freedom/(freedom+t*t), t*t/(freedom+t*t)
	if x < (freedom+2)/(freedom+5) { // where the fraction converges
		return incompleteBeta(x, y, freedom/2, 0.5) / 2
	}
	return (1 - incompleteBeta(y, x, 0.5, freedom/2)) / 2
}

// incompleteBeta is the regularized incomplete beta function of x, which is 1-y, by its
// continued fraction, of which about the root of a+b terms matter.
func incompleteBeta(x, y, a, b float64) float64 {
	fraction := 1.0
	for i := 2000; i > 0; i-- {
		m := float64(i / 2)
		term := m * (b - m) / (a + 2*m - 1)
		if i%2 == 1 {
			term = -(a + m) * (a + b + m) / (a + 2*m + 1)
		}
		fraction = 1 + term*x/(a+2*m)/fraction
	}
	whole, _ := math.Lgamma(a + b)
	one, _ := math.Lgamma(a)
	other, _ := math.Lgamma(b)
	return math.Exp(a*math.Log(x)+b*math.Log(y)+whole-one-other) / a / fraction
}

// StudentQuantile is the t that Student's t with this many degrees of freedom exceeds with a
// probability in (0, 0.5].
func StudentQuantile(tail, freedom float64) float64 {
	half, _ := math.Lgamma(freedom / 2)
	more, _ := math.Lgamma((freedom + 1) / 2)
	scale := more - half - math.Log(freedom*math.Pi)/2
	// The tail is convex, so Newton's method rises from the normal quantile, which is less.
	t := NormalQuantile(tail)
	for range 200 {
		density := math.Exp(scale - (freedom+1)/2*math.Log1p(t*t/freedom))
		step := (StudentTail(t, freedom) - tail) / density
		if t += step; !(step > 1e-13*t) {
			break
		}
	}
	return t
}

// ExpandTail returns the share of resamples to leave out at each end for a tail of an interval from
// a number of units, 2 or more: less than the tail, since resamples vary less than samples do
// (Hesterberg, 2015, "What Teachers Should Know About the Bootstrap", section 4.1.3).
func ExpandTail(tail, units float64) float64 {
	return NormalTail(math.Sqrt(units/(units-1)) * StudentQuantile(tail, units-1))
}

// ShrinkTail is the inverse of ExpandTail, for tails up to 1.
func ShrinkTail(share, units float64) float64 {
	return StudentTail(NormalQuantile(share)/math.Sqrt(units/(units-1)), units-1)
}

// NormalTail is the probability that a standard normal number exceeds z, and NormalQuantile its inverse.
func NormalTail(z float64) float64        { return math.Erfc(z/math.Sqrt2) / 2 }
func NormalQuantile(tail float64) float64 { return math.Sqrt2 * math.Erfcinv(2*tail) }

// Package student has Student's t distribution, and what it makes of bootstrap intervals from
// few units.
package student

import "math"

// Tail is the probability that Student's t with this many degrees of freedom exceeds t.
func Tail(t, freedom float64) float64 {
	switch {
	case math.IsInf(t, 0):
		return (1 - math.Copysign(1, t)) / 2
	case t < 0:
		return 1 - Tail(-t, freedom)
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

// Quantile is the t that Student's t with this many degrees of freedom exceeds with a
// probability in (0, 0.5].
func Quantile(tail, freedom float64) float64 {
	half, _ := math.Lgamma(freedom / 2)
	more, _ := math.Lgamma((freedom + 1) / 2)
	scale := more - half - math.Log(freedom*math.Pi)/2
	// The tail is convex, so Newton's method rises from the normal quantile, which is less.
	t := Normal(tail)
	for range 200 {
		density := math.Exp(scale - (freedom+1)/2*math.Log1p(t*t/freedom))
		step := (Tail(t, freedom) - tail) / density
		if t += step; !(step > 1e-13*t) {
			break
		}
	}
	return t
}

// Expand returns the share of resamples to leave out at each end for a tail of an interval from
// a number of units, 2 or more: less than the tail, since resamples vary less than samples do
// (Hesterberg, 2015, "What Teachers Should Know About the Bootstrap", section 4.1.3).
func Expand(tail, units float64) float64 {
	return Above(math.Sqrt(units/(units-1)) * Quantile(tail, units-1))
}

// Shrink is the inverse of Expand, for tails up to 1.
func Shrink(share, units float64) float64 {
	return Tail(Normal(share)/math.Sqrt(units/(units-1)), units-1)
}

// Above is the probability that a standard normal number exceeds z, and Normal its inverse.
func Above(z float64) float64     { return math.Erfc(z/math.Sqrt2) / 2 }
func Normal(tail float64) float64 { return math.Sqrt2 * math.Erfcinv(2*tail) }

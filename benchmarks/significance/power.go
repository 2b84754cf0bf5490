package significance

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Smallest returns the smallest true difference of scores that the test finds,
// with a p-value up to alpha, with a probability of power in so many segments
// like those of the pair. It rests on the standard error of the difference and
// the normal distribution; NaN for systems without any difference to learn from.
func (p *SystemPair) Smallest(t SystemTest, alpha, power float64, segments int) float64 {
	if p.Error == 0 {
		return math.NaN()
	}
	return (t.critical(alpha) + distuv.UnitNormal.Quantile(power)) * p.Error * math.Sqrt(float64(p.Segments)/float64(segments))
}

// Needed returns how many segments like those of the pair the test needs to find a
// true difference with that probability: +Inf for a difference of 0.
func (p *SystemPair) Needed(t SystemTest, alpha, power, difference float64) float64 {
	ratio := p.Smallest(t, alpha, power, p.Segments) / math.Abs(difference)
	return math.Ceil(float64(p.Segments) * ratio * ratio)
}

// critical is the difference, in standard errors, from which on the p-value of
// the test is up to alpha.
func (t SystemTest) critical(alpha float64) float64 {
	normal := distuv.UnitNormal
	if t == PairedRandomization {
		return normal.Quantile(1 - alpha/2)
	}
	low, high := 0.0, 40.0
	for range 60 {
		seen := (low + high) / 2
		mean := seen*(1-2*normal.CDF(-seen)) + 2*normal.Prob(seen) // of the absolute differences of resamples
		if normal.CDF(-mean)+normal.CDF(-2*seen-mean) > alpha {
			low = seen
		} else {
			high = seen
		}
	}
	return high
}

package significance

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/refract-eval/refract/internal/exact"
)

// Smallest returns the smallest true difference of scores that the test finds,
// with a p-value up to alpha, with a probability of power in so many segments
// like those of the pair. It rests on the standard error of the difference and
// the normal distribution; NaN for systems without any difference to learn from.
func (p *SystemPair) Smallest(t SystemTest, alpha, power float64, segments int) float64 {
	if p.Error == 0 {
		return math.NaN()
	}
	return (t.critical(alpha) + mathext.NormalQuantile(power)) * p.Error * math.Sqrt(float64(p.Segments)/float64(segments))
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
	if t == PairedRandomization {
		return mathext.NormalQuantile(1 - alpha/2)
	}
	low, high := 0.0, 40.0
	for range 60 {
		seen := (low + high) / 2
		mean := seen*(1-2*normalBelow(-seen)) + 2*math.Exp(-seen*seen/2)/math.Sqrt(2*math.Pi) // of the absolute differences of resamples
		if normalBelow(-mean)+normalBelow(-2*seen-mean) > alpha {
			low = seen
		} else {
			high = seen
		}
	}
	return high
}

// normalBelow is the probability that a normal deviate is below x.
func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// deviation is the standard deviation of what some values are a sample of, NaN
// for one value.
func deviation(values []float64) float64 {
	mean := exact.Mean(values)
	squares := make([]float64, len(values))
	for i, v := range values {
		squares[i] = (v - mean) * (v - mean)
	}
	return math.Sqrt(exact.Quotient(squares, len(values)-1))
}

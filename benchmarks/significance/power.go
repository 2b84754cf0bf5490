package significance

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/refract-eval/refract/internal/exact"
)

// Power says what a test sees of a true difference, from the standard error that
// resampling gave it. It takes differences as normally distributed, and other units
// as like those at hand.
type Power struct {
	Error    float64 // standard error of the difference
	Units    int     // that it is of: segments, documents or systems
	Critical float64 // in standard errors: the difference from which on the p-value is up to alpha
	Share    float64 // of tests that find the true difference, such as 0.8
}

// OneSided is the Critical of a one-sided test.
func OneSided(alpha float64) float64 { return mathext.NormalQuantile(1 - alpha) }

// Smallest returns the smallest true difference that is found in so many units;
// NaN without any difference to learn from.
func (p Power) Smallest(units int) float64 {
	if p.Error == 0 {
		return math.NaN()
	}
	return (p.Critical + mathext.NormalQuantile(p.Share)) * p.Error * math.Sqrt(float64(p.Units)/float64(units))
}

// Needed returns how many units it takes to find a true difference: +Inf for one
// of 0.
func (p Power) Needed(difference float64) float64 {
	ratio := p.Smallest(p.Units) / math.Abs(difference)
	return math.Ceil(float64(p.Units) * ratio * ratio)
}

// Roughly rounds what is needed up to two significant digits; false where it is
// unknown or beyond counting.
func Roughly(needed float64) (int, bool) {
	step := math.Pow(10, max(0, math.Floor(math.Log10(needed))-1))
	n := math.Ceil(needed/step) * step
	return int(min(n, math.MaxInt32)), n < math.MaxInt32
}

// StandardError is that of a value, by its resamples. Those in which it is
// undefined are left out; NaN of fewer than two others.
func StandardError(resamples []float64) float64 {
	values := slices.DeleteFunc(slices.Clone(resamples), math.IsNaN)
	if len(values) < 2 {
		return math.NaN()
	}
	mean := exact.Mean(values)
	for i, v := range values {
		values[i] = (v - mean) * (v - mean)
	}
	return math.Sqrt(exact.Quotient(values, len(values)-1))
}

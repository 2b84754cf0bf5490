package aggregate

import (
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/exact"
)

// Mean is the arithmetic mean of at least one score, rounded once.
func Mean(s []float64) float64 { return exact.Mean(s) }

// Median is the middle of at least one score, or the mean of the middle two.
// It sorts s.
func Median(s []float64) float64 {
	slices.Sort(s)
	n := len(s)
	return Mean(s[(n-1)/2 : n/2+1])
}

// meanBest is the mean of the k best of at least one score: the largest
// where sign is positive, else the smallest. It sorts s.
func meanBest(s []float64, k int, sign float64) float64 {
	slices.Sort(s)
	k = min(k, len(s))
	if sign > 0 {
		return Mean(s[len(s)-k:])
	}
	return Mean(s[:k])
}

// softmax is the mean of at least one score, weighted by exp(sign·score/t).
// It goes to the best score as t goes to 0, and to the mean as t grows.
func softmax(s []float64, t, sign float64) float64 {
	top := math.Inf(-1)
	for _, v := range s {
		top = max(top, sign*v)
	}
	var num, den exact.Sum
	for _, v := range s {
		w := math.Exp((sign*v - top) / t)
		num.Add(w * v)
		den.Add(w)
	}
	return num.Value() / den.Value()
}

// powerMean is (mean of score^p)^(1/p), and the geometric mean for p = 0. It
// is defined for scores from 0; a score of 0 makes it 0 when p ≤ 0. With a
// negative score there is none: the result is NaN.
func powerMean(s []float64, p float64) float64 {
	low, high := slices.Min(s), slices.Max(s)
	switch {
	case low < 0:
		return math.NaN()
	case high == 0 || low == 0 && p <= 0:
		return 0
	}
	// The score that dominates the sum is scaled to 1, which keeps the
	// powers in range.
	scale := high
	if p < 0 {
		scale = low
	}
	var sum exact.Sum
	for _, v := range s {
		if p == 0 {
			sum.Add(math.Log(v / scale))
		} else {
			sum.Add(math.Pow(v/scale, p))
		}
	}
	mean := sum.Mean(len(s))
	if p == 0 {
		return scale * math.Exp(mean)
	}
	return scale * math.Pow(mean, 1/p)
}

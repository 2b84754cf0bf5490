package aggregate

import (
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/numeric"
)

// Median returns the middle one of at least one score, or the mean of the middle two.
// It sorts s.
func Median(s []float64) float64 {
	slices.Sort(s)
	n := len(s)
	return numeric.Mean(s[(n-1)/2 : n/2+1])
}

// meanBest returns the mean of the best of at least one score, at most so many: the largest if
// sign is positive, otherwise the smallest. It sorts s.
func meanBest(s []float64, most, sign float64) float64 {
	slices.Sort(s)
	k := min(int(most), len(s))
	if sign > 0 {
		return numeric.Mean(s[len(s)-k:])
	}
	return numeric.Mean(s[:k])
}

// softmax returns the mean of at least one score, weighted by exp(sign·score/t). It
// approaches the best score as t goes to 0, and the mean as t grows.
func softmax(s []float64, t, sign float64) float64 {
	top := math.Inf(-1)
	for _, v := range s {
		top = max(top, sign*v)
	}
	var num, den numeric.Sum
	for _, v := range s {
		w := math.Exp((sign*v - top) / t)
		num.Add(w * v)
		den.Add(w)
	}
	return num.Value() / den.Value()
}

// powerMean returns (mean of score^p)^(1/p), and the geometric mean for p = 0. Scores must
// be at least 0; with a negative score the result is NaN. If p ≤ 0, a score of 0 makes the
// result 0.
func powerMean(s []float64, p float64) float64 {
	low, high := slices.Min(s), slices.Max(s)
	switch {
	case low < 0:
		return math.NaN()
	case high == 0 || low == 0 && p <= 0:
		return 0
	}
	// Scaling the score that dominates the sum to 1 keeps the powers in range.
	scale := high
	if p < 0 {
		scale = low
	}
	var sum numeric.Sum
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

package publish

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ClopperPearson is the interval of 95 % about the share of k of n.
func ClopperPearson(k, n int) (low, high float64) {
	// upTo is the probability of at most k of n, where the share is p.
	upTo := func(k int, p float64) (sum float64) {
		all, _ := math.Lgamma(float64(n + 1))
		for i := range k + 1 {
			a, _ := math.Lgamma(float64(i + 1))
			b, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(all - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	// solve finds where a falling function is 0.
	solve := func(f func(float64) float64) float64 {
		low, high := 0.0, 1.0
		for range 50 {
			if middle := (low + high) / 2; f(middle) > 0 {
				low = middle
			} else {
				high = middle
			}
		}
		return low
	}
	low, high = 0, 1
	if k > 0 {
		low = solve(func(p float64) float64 { return upTo(k-1, p) - 0.975 })
	}
	if k < n {
		high = solve(func(p float64) float64 { return upTo(k, p) - 0.025 })
	}
	return low, high
}

// Share is k of n.
type Share struct{ K, N int }

// Of is the share, between 0 and 1.
func (s Share) Of() float64 { return float64(s.K) / float64(s.N) }

// draw draws from what is believed of the share after it was seen, with a beta prior.
func (s Share) draw(rng *rand.Rand, a, b float64) float64 {
	x, y := gamma(rng, float64(s.K)+a), gamma(rng, float64(s.N-s.K)+b)
	return x / (x + y)
}

// gamma draws from the gamma distribution, by Marsaglia and Tsang (2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		x := rng.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		if v = v * v * v; v > 0 && math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// Estimate is the share of answers whose meaning was changed among those that a judge did
// not flag, with its interval of 95 %.
type Estimate struct {
	Share, Low, High float64
	// Chance says that the judge was not shown to be better than chance, so that there is
	// no estimate.
	Chance bool
}

// estimateDraws are the draws of an interval.
const estimateDraws = 1000

// EstimateChanged is the estimate, by Rogan and Gladen (1978), of a judge that caught some
// of the planted changes, and flagged some known good texts and some answers. Without good
// texts it is as if the judge flagged none of them: High is then an upper bound. The
// interval is that of draws from what is believed of the three shares. With Jeffreys' prior
// (0.5 and 0.5) for all three its upper end was too low for a judge that flags no good text;
// simulation showed that these two priors, a little less sure of the judge, cover 95 %.
func EstimateChanged(caught, good, flagged Share) Estimate {
	estimate := func(sens, wrong, flagged float64) float64 {
		changed := min(1, max(0, (flagged-wrong)/(sens-wrong))) // of all answers
		return min(1, changed*(1-sens)/(1-flagged))
	}
	rng := rand.New(rand.NewPCG(uint64(caught.K)<<32+uint64(caught.N), uint64(good.K)<<32+uint64(flagged.K)))
	var draws, better []float64
	for range estimateDraws {
		sens, share, wrong := caught.draw(rng, 0.5, 0.7), flagged.draw(rng, 0.5, 0.5), 0.0
		if good.N > 0 {
			wrong = good.draw(rng, 0.4, 0.5)
			better = append(better, sens-wrong)
		} else {
			better = append(better, sens-share) // most answers are good
		}
		if sens > wrong {
			draws = append(draws, estimate(sens, wrong, share))
		}
	}
	slices.Sort(better)
	if caught.N == 0 || flagged.N == 0 || better[len(better)/40] <= 0 {
		return Estimate{Chance: true}
	}
	slices.Sort(draws)
	wrong := 0.0
	if good.N > 0 {
		wrong = good.Of()
	}
	e := Estimate{Low: draws[len(draws)/40], High: draws[len(draws)-1-len(draws)/40], Share: 1}
	if flagged.K < flagged.N {
		e.Share = estimate(caught.Of(), wrong, flagged.Of())
	}
	return e
}

package publish

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ClopperPearson returns the Clopper-Pearson 95 % interval of the share k/n, between 0 and 1.
func ClopperPearson(k, n int) (low, high float64) {
	// upTo returns the probability of at most k of n if the share is p.
	upTo := func(k int, p float64) (sum float64) {
		all, _ := math.Lgamma(float64(n + 1))
		for i := range k + 1 {
			a, _ := math.Lgamma(float64(i + 1))
			b, _ := math.Lgamma(float64(n - i + 1))
			sum += math.Exp(all - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		}
		return sum
	}
	// solve finds the zero of a falling function.
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

// Share is a share of K out of N.
type Share struct{ K, N int }

// Of returns K/N, between 0 and 1.
func (s Share) Of() float64 { return float64(s.K) / float64(s.N) }

// draw draws from the posterior distribution of the share with a beta prior.
func (s Share) draw(rng *rand.Rand, a, b float64) float64 {
	x, y := gamma(rng, float64(s.K)+a), gamma(rng, float64(s.N-s.K)+b)
	return x / (x + y)
}

// gamma draws from the gamma distribution by the method of Marsaglia and Tsang (2000).
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

// Estimate is the share of answers with a changed meaning among those that a judge did not
// flag, with its 95 % interval.
type Estimate struct {
	Share, Low, High float64
	// Chance says that there is no estimate because the judge was not shown to be better
	// than chance.
	Chance bool
}

// estimateDraws is the number of draws for an interval.
const estimateDraws = 1000

// EstimateChanged estimates the share by the method of Rogan and Gladen (1978), from the
// planted changes that a judge caught, the known good texts that it flagged, and the answers
// that it flagged. Without good texts it assumes that the judge would flag none of them; High is
// then an upper bound. The interval comes from draws from the posterior distributions of the
// three shares. With Jeffreys' prior (0.5 and 0.5) for all three, the upper end was too low for a
// judge that flags no good text; in simulations these two priors, which trust the judge a little
// less, cover 95 %.
func EstimateChanged(caught, good, flagged Share) Estimate {
	estimate := func(sens, wrong, flagged float64) float64 {
		changed := min(1, max(0, (flagged-wrong)/(sens-wrong))) // share of all answers
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

package significance

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// permPairs draws how many pairs of each kind are exchanged: pairs with the same two
// outcomes are interchangeable.
func permPairs(ctx context.Context, t paired) (Result, error) {
	x, y := t.Rows(t.a), t.Rows(t.b)
	var epsilons [2]float64
	if t.Statistic.Calibrated() {
		epsilons = [2]float64{correlate.Calibrate(x).Epsilon, correlate.Calibrate(y).Epsilon}
	}
	outcomes := make([]outcomes, 0, len(x))
	for i := range x {
		if len(x[i].Gold) < 2 {
			continue
		}
		row, err := countOutcomes(ctx, x[i].Gold, x[i].Metric, y[i].Metric, epsilons)
		if err != nil {
			return Result{}, err
		}
		outcomes = append(outcomes, row)
	}
	of := correlate.PairCounts.TauB
	if t.Statistic != correlate.StatKendall {
		of = correlate.PairCounts.Acc23
	}
	difference := func(exchanged func(kind, n int64) int64) float64 {
		var sums, n [2]float64
		for i := range outcomes {
			for k, counts := range outcomes[i].exchange(exchanged) {
				if v := of(counts); !math.IsNaN(v) || t.ZeroUndefined {
					sums[k], n[k] = sums[k]+defined(v), n[k]+1
				}
			}
		}
		return defined(sums[0]/n[0]) - defined(sums[1]/n[1])
	}
	res := Result{P: math.NaN()}
	if len(outcomes) == 0 {
		res.Delta = math.NaN()
		return res, nil
	}
	res.Delta = difference(func(first, _ int64) int64 { return first })
	err := res.resample(ctx, t.Options, func() drawer {
		return func(random *rand.PCG) float64 {
			return difference(func(_, n int64) int64 { return half(random, n) })
		}
	})
	return res, err
}

// defined returns 0 for a measure that is undefined after an exchange.
func defined(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// half draws from the binomial distribution of n coin tosses.
func half(random *rand.PCG, n int64) int64 {
	var heads int
	for ; n >= 64; n -= 64 {
		heads += bits.OnesCount64(random.Uint64())
	}
	if n > 0 {
		heads += bits.OnesCount64(random.Uint64() & (1<<n - 1))
	}
	return int64(heads)
}

// outcome is a metric's order of a pair, compared with the gold scores.
type outcome uint8

const (
	concordant outcome = iota
	discordant
	tied
	numOutcomes
)

// outcomes counts the pairs of a vector by the outcomes of both metrics. If the gold scores
// are tied, concordant means that the metric scores differ.
type outcomes struct {
	apart [numOutcomes][numOutcomes]int64 // gold scores differ
	equal [numOutcomes][numOutcomes]int64 // gold scores tied
}

func countOutcomes(ctx context.Context, gold, a, b []float64, epsilons [2]float64) (o outcomes, err error) {
	for i := range gold {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return o, err
			}
		}
		for j := range i {
			order := cmp.Compare(gold[i], gold[j])
			counts := &o.apart
			if order == 0 {
				counts = &o.equal
			}
			counts[against(order, a[i]-a[j], epsilons[0])][against(order, b[i]-b[j], epsilons[1])]++
		}
	}
	return o, nil
}

// against compares a difference of metric scores with the order of the gold scores, 0 for a
// tie.
func against(order int, difference, epsilon float64) outcome {
	switch {
	case math.Abs(difference) <= epsilon:
		return tied
	case order == 0 || (difference > 0) == (order > 0):
		return concordant
	default:
		return discordant
	}
}

// exchange returns the counts of both metrics. Of the n pairs that have two given outcomes
// in either order, first returns how many have them in this order, either observed or
// drawn.
func (o *outcomes) exchange(first func(now, n int64) int64) [2]correlate.PairCounts {
	var one, two [2][numOutcomes]int64
	for g, counts := range []*[numOutcomes][numOutcomes]int64{&o.apart, &o.equal} {
		for x := range numOutcomes {
			one[g][x] += counts[x][x]
			two[g][x] += counts[x][x]
			for y := x + 1; y < numOutcomes; y++ {
				n := counts[x][y] + counts[y][x]
				if n == 0 {
					continue
				}
				k := first(counts[x][y], n)
				one[g][x] += k
				one[g][y] += n - k
				two[g][x] += n - k
				two[g][y] += k
			}
		}
	}
	return [2]correlate.PairCounts{pairCounts(one), pairCounts(two)}
}

func pairCounts(n [2][numOutcomes]int64) correlate.PairCounts {
	return correlate.PairCounts{
		Concordant: n[0][concordant], Discordant: n[0][discordant], TiedMetric: n[0][tied],
		TiedGold: n[1][concordant], TiedBoth: n[1][tied],
	}
}

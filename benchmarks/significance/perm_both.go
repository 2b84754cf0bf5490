package significance

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/numeric"
)

func permBoth(ctx context.Context, t paired) (Result, error) {
	seen := t.Over(t.Rows(t.a)).Value - t.Over(t.Rows(t.b)).Value
	x, y := t.standardRows()
	res, err := exchangeTest(ctx, correlate.NewExchange(x, y, t.Measure, nil, 0), t.Options)
	res.Delta = seen // standardizing moves values that are exactly at a threshold of ties
	return res, err
}

// exchangeTest tosses a coin for each exchanged unit.
func exchangeTest(ctx context.Context, ex *correlate.Exchange, o Options) (Result, error) {
	first, second := ex.Values(make([]uint64, (ex.Units()+63)/64))
	res := Result{Delta: first - second, P: math.NaN()}
	if math.IsNaN(res.Delta) {
		return res, nil
	}
	err := res.resample(ctx, o, func() drawer {
		difference := ex.Worker(func(low, high float64) bool { return !o.Draws && o.settled(low, high, res.Delta) })
		return func(random *rand.PCG) float64 { return difference(coins(random, ex.Units())) }
	})
	return res, err
}

// standardRows returns the vectors of both tables, with the metric scores
// standardized.
func (p *paired) standardRows() (x, y []correlate.Row) {
	if p.Statistic == correlate.StatAccuracy {
		// The systems are the units: their means are exchanged.
		return standardRow(p.Rows(p.a)[0]), standardRow(p.Rows(p.b)[0])
	}
	standardize(p.a)
	standardize(p.b)
	return p.Rows(p.a), p.Rows(p.b)
}

// standardize turns the metric scores into z-scores, so that two metrics are comparable.
// Equal scores stay equal, and so do equal differences of decimals as people and judges write them: all
// these are whole multiples of one number of few digits, so that no z-score is rounded.
func standardize(p *correlate.Pairs) {
	var scores []float64
	for i, v := range p.Metric {
		if p.MetricOK == nil || p.MetricOK[i] {
			scores = append(scores, v)
		}
	}
	var sum, squares float64
	for _, v := range scores {
		sum += v
	}
	mean := sum / float64(len(scores))
	for _, v := range scores {
		squares += (v - mean) * (v - mean)
	}
	deviation := math.Sqrt(squares / float64(len(scores)))
	if deviation == 0 {
		deviation = 1
	}
	z := func(v float64) float64 { return (v - mean) / deviation }
	const most, finer, digits = 1 << 20, 1 << 10, 21 // bits that a float64 has for a product
	if by := float64(numeric.WholeScale(scores, 1<<53/most)); by > 0 {
		fraction, exponent := math.Frexp(1 / (deviation * by * finer))
		unit, middle := math.Ldexp(math.Round(math.Ldexp(fraction, digits)), exponent-digits), math.Round(mean*by*finer)
		z = func(v float64) float64 { return (math.Round(v*by)*finer - middle) * unit }
	}
	for i, v := range p.Metric {
		if p.MetricOK == nil || p.MetricOK[i] {
			p.Metric[i] = z(v)
		}
	}
}

// standardRow standardizes the one vector of systems' means.
func standardRow(r correlate.Row) []correlate.Row {
	standardize(&correlate.Pairs{Segments: len(r.Metric), Systems: 1, Gold: r.Gold, Metric: r.Metric})
	return []correlate.Row{r}
}

package significance

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// randomization exchanges units such as documents between two metrics: all scores of all
// systems together.
func randomization(ctx context.Context, t paired) (Result, error) {
	seen := t.Over(t.Rows(t.a)).Value - t.Over(t.Rows(t.b)).Value
	if math.IsNaN(seen) {
		return Result{Delta: seen, P: seen}, nil
	}
	if t.Statistic == correlate.StatAccuracy { // one mean a system
		for _, p := range []**correlate.Pairs{&t.a, &t.b} {
			means, err := (*p).Means(make([]int32, (*p).Segments), 1)
			if err != nil {
				return Result{}, err
			}
			*p = means
		}
	}
	a, row := t.a.Under()
	b, _ := t.b.Under()
	standardize(a)
	standardize(b)
	unit := t.Units
	if unit == nil {
		for s := range a.Segments {
			unit = append(unit, int32(s))
		}
	}
	var res Result
	var err error
	if row == nil {
		res, err = exchangeTest(ctx, correlate.NewExchange(t.Rows(a), t.Rows(b), t.Measure, t.ofElements(unit), int(slices.Max(unit))+1), t.Options)
	} else {
		res, err = t.exchangeMeans(ctx, a, b, row, unit)
	}
	res.Delta = seen
	return res, err
}

// ofElements converts the units of the segments to the units of the vectors' elements.
func (t *paired) ofElements(unit []int32) []int32 {
	numbered := *t.a
	numbered.Metric = make([]float64, len(t.a.Metric))
	for i := range numbered.Metric {
		numbered.Metric[i] = float64(unit[i/t.a.Systems])
	}
	of := []int32{}
	for _, r := range t.Rows(&numbered) {
		for _, u := range r.Metric {
			of = append(of, int32(u))
		}
	}
	return of
}

// coins tosses a coin for each of n units.
func coins(random *rand.PCG, n int) []uint64 {
	out := make([]uint64, (n+63)/64)
	for i := range out {
		out[i] = random.Uint64()
	}
	return out
}

// exchangeMeans recomputes the means of tables a and b after each exchange; row is the row
// of each segment in the table of means.
func (t *paired) exchangeMeans(ctx context.Context, a, b *correlate.Pairs, row, unit []int32) (Result, error) {
	type part struct{ unit, row int32 }
	type sums struct {
		part
		of [2][]float64
	}
	index, n := map[part]*sums{}, make([]float64, len(t.a.Gold))
	var order []*sums // the same in every run
	for i := range a.Gold {
		if !a.GoldOK[i] {
			continue
		}
		s, system := i/a.Systems, i%a.Systems
		key := part{unit[s], row[s]}
		if index[key] == nil {
			index[key] = &sums{key, [2][]float64{make([]float64, a.Systems), make([]float64, a.Systems)}}
			order = append(order, index[key])
		}
		index[key].of[0][system] += a.Metric[i]
		index[key].of[1][system] += b.Metric[i]
		n[int(row[s])*a.Systems+system]++
	}
	difference := func(drawn []uint64, x, y *correlate.Pairs) float64 {
		clear(x.Metric)
		clear(y.Metric)
		for _, s := range order {
			second := drawn[s.unit>>6] >> (s.unit & 63) & 1
			x, y, other := x.Metric[int(s.row)*a.Systems:], y.Metric[int(s.row)*a.Systems:], s.of[1-second]
			for system, v := range s.of[second] {
				x[system] += v
				y[system] += other[system]
			}
		}
		for i := range n {
			x.Metric[i] /= n[i]
			y.Metric[i] /= n[i]
		}
		return defined(t.Over(t.Rows(x)).Value) - defined(t.Over(t.Rows(y)).Value)
	}
	tables := func() (x, y *correlate.Pairs) { // of means, for one goroutine
		a, b := *t.a, *t.a
		a.Metric, b.Metric = make([]float64, len(n)), make([]float64, len(n))
		return &a, &b
	}
	units := int(slices.Max(unit)) + 1
	x, y := tables()
	res := Result{Delta: difference(make([]uint64, (units+63)/64), x, y), P: math.NaN()}
	err := res.resample(ctx, t.Options, 1, func() drawer {
		x, y := tables()
		return func(random []rand.PCG, differences []float64) {
			for i := range random {
				differences[i] = difference(coins(&random[i], units), x, y)
			}
		}
	})
	return res, err
}

package significance

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

func randomization(ctx context.Context, t paired) (Result, error) {
	if t.a.Segments < 2 {
		return Result{}, errors.New("it exchanges segments, and there is one row: use perm-both")
	}
	standardize(t.a)
	standardize(t.b)
	if t.Statistic.OfSystems() {
		return tableTest(ctx, t)
	}
	units := unitsOf(t.a, t.Grouping)
	ex := correlate.NewExchange(t.Rows(t.a), t.Rows(t.b), t.Measure)
	rows := (t.a.Segments + 63) / 64
	return exchangeTest(ctx, ex, t.Options, func(random *rand.PCG, mask []uint64) {
		drawn := make([]uint64, rows)
		for i := range drawn {
			drawn[i] = random.Uint64()
		}
		clear(mask)
		for i, u := range units {
			mask[i>>6] |= drawn[u>>6] >> (u & 63) & 1 << (i & 63)
		}
	})
}

// unitsOf returns the row of the table of each element of its vectors.
func unitsOf(p *correlate.Pairs, g correlate.Grouping) []int32 {
	var units []int32
	add := func(seg, sys int) {
		if p.GoldOK[p.Index(seg, sys)] {
			units = append(units, int32(seg))
		}
	}
	if g == correlate.BySystem {
		for sys := range p.Systems {
			for seg := range p.Segments {
				add(seg, sys)
			}
		}
		return units
	}
	for seg := range p.Segments {
		for sys := range p.Systems {
			add(seg, sys)
		}
	}
	return units
}

// tableTest exchanges rows of two tables and takes the measure anew.
func tableTest(ctx context.Context, t paired) (Result, error) {
	p, q := t.a, t.b
	value := func(table *correlate.Pairs) float64 { return t.Over(t.Rows(table)).Value }
	res := Result{Delta: value(p) - value(q), P: math.NaN()}
	if math.IsNaN(res.Delta) {
		return res, nil
	}
	err := res.resample(ctx, t.Options, 1, func() drawer {
		return oneByOne(func(random *rand.PCG) float64 { return exchangedRows(random, p, q, value) })
	})
	return res, err
}

// exchangedRows is the difference of values after an exchange of rows of two
// tables.
func exchangedRows(random *rand.PCG, p, q *correlate.Pairs, value func(*correlate.Pairs) float64) float64 {
	x, y := *p, *q
	x.Metric, y.Metric = make([]float64, len(p.Metric)), make([]float64, len(p.Metric))
	var word uint64
	for seg := range p.Segments {
		if seg%64 == 0 {
			word = random.Uint64()
		}
		from, to := p.Index(seg, 0), p.Index(seg+1, 0)
		first, second := p.Metric[from:to], q.Metric[from:to]
		if word>>(seg%64)&1 == 1 {
			first, second = second, first
		}
		copy(x.Metric[from:to], first)
		copy(y.Metric[from:to], second)
	}
	return defined(value(&x)) - defined(value(&y))
}

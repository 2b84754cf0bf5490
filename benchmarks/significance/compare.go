package significance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

// paired are two tables with the same cells, to be compared by a test.
type paired struct {
	a, b *correlate.Pairs
	correlate.Measure
	Options
}

// Compare tests by a method whether the measures of two tables differ or, with
// Options.OneSided, whether table a's is larger. Both hold the same gold scores; cells
// without all three scores are left out. The context is checked before each resample.
func Compare(ctx context.Context, method Method, a, b *correlate.Pairs, m correlate.Measure, o Options) (Result, error) {
	res, err := compare(ctx, method, a, b, m, o)
	if err != nil {
		return Result{}, fmt.Errorf("%v of %v: %w", method, m, err)
	}
	return res, nil
}

func compare(ctx context.Context, method Method, a, b *correlate.Pairs, m correlate.Measure, o Options) (Result, error) {
	tests := [...]func(context.Context, paired) (Result, error){
		MethodPermBoth: permBoth, MethodPermPairs: permPairs, MethodWilliams: williams, MethodBootstrap: bootstrap, MethodRandomization: randomization,
	}
	if int(method) >= len(tests) {
		return Result{}, errors.New("unknown significance test")
	}
	method, err := method.For(m, a.Level())
	if err != nil {
		return Result{}, err
	}
	if err := o.check(); err != nil && method != MethodWilliams {
		return Result{}, err
	}
	t, cells, err := pair(a, b, m, o)
	if err != nil {
		return Result{}, err
	}
	res, err := tests[method](ctx, t)
	res.Cells = cells
	return res, err
}

// pair checks two tables and restricts them to common cells, whose number it returns.
func pair(a, b *correlate.Pairs, m correlate.Measure, o Options) (t paired, cells int, err error) {
	for _, p := range []*correlate.Pairs{a, b} {
		if err := m.Check(p); err != nil {
			return paired{}, 0, err
		}
	}
	t = paired{Measure: m, Options: o}
	t.a, t.b, cells, err = correlate.Align(a, b)
	if err == nil && t.a.Systems < 2 && m.Statistic.OfSystems() {
		err = errors.New("two systems or more are needed")
	}
	return t, cells, err
}

// Comparison is the result of [Matrix].
type Comparison struct {
	// Order lists the tables by descending value of the measure; equal ones, and undefined
	// ones at the end, keep their order.
	Order []int
	// Values are the measures of the tables, each over its own cells.
	Values []float64
	// Tests[i][j], i < j, is the test of the i-th table in order against the j-th. Delta is
	// negative if the j-th is larger over the common cells; a one-sided P then says that the
	// j-th is larger.
	Tests [][]Result
	// Corrected are the p-values of Tests after [Holm]'s correction.
	Corrected [][]float64
	// Ranks are clusters by the uncorrected p-values, by table, from 1; 0 if the measure is
	// undefined.
	Ranks []int
}

// ByValue ranks tables by a measure, without a test; equal values share a rank.
func ByValue(tables []*correlate.Pairs, m correlate.Measure) (*Comparison, error) {
	c, known, err := ordered(tables, m)
	if err != nil {
		return nil, err
	}
	for i, t := range c.Order[:known] {
		if c.Ranks[t] = i + 1; i > 0 && c.Values[t] == c.Values[c.Order[i-1]] {
			c.Ranks[t] = c.Ranks[c.Order[i-1]]
		}
	}
	return c, nil
}

// ordered computes a measure of all tables, and counts those that have one.
func ordered(tables []*correlate.Pairs, m correlate.Measure) (c *Comparison, known int, err error) {
	c = &Comparison{Ranks: make([]int, len(tables))}
	for i, t := range tables {
		res, err := m.Of(t)
		if err != nil {
			return nil, 0, err
		}
		c.Values = append(c.Values, res.Value)
		c.Order = append(c.Order, i)
	}
	slices.SortStableFunc(c.Order, func(i, j int) int { return cmp.Compare(c.Values[j], c.Values[i]) }) // NaN is the least
	for known < len(tables) && !math.IsNaN(c.Values[c.Order[known]]) {
		known++
	}
	return c, known, nil
}

// Matrix tests all tables against each other. Ranks use p-values up to alpha, such as 0.05.
func Matrix(ctx context.Context, method Method, tables []*correlate.Pairs, m correlate.Measure, alpha float64, o Options) (*Comparison, error) {
	return MatrixOf(tables, m, alpha, o, func(a, b int) (Result, error) { return Compare(ctx, method, tables[a], tables[b], m, o) })
}

// MatrixOf is Matrix with a test of two tables, by their positions. Where the test has an
// interval that includes 0, no setting ranks above the other, whatever P is.
func MatrixOf(tables []*correlate.Pairs, m correlate.Measure, alpha float64, o Options, test func(a, b int) (Result, error)) (*Comparison, error) {
	c, known, err := ordered(tables, m)
	if err != nil {
		return nil, err
	}
	var flat []float64
	c.Tests, c.Corrected = make([][]Result, known), make([][]float64, known)
	ps := make([][]float64, known)
	for i := range known {
		c.Tests[i], c.Corrected[i], ps[i] = make([]Result, known), make([]float64, known), make([]float64, known)
		for j := i + 1; j < known; j++ {
			res, err := test(c.Order[i], c.Order[j])
			if err != nil {
				return nil, err
			}
			if ps[i][j] = res.P; res.Delta < 0 && o.OneSided {
				if res, err = test(c.Order[j], c.Order[i]); err != nil {
					return nil, err
				}
				res = res.Turned()
			}
			if res.Delta < 0 || res.Interval.Contains(0) { // the i-th does not get a better rank
				ps[i][j] = 1
			}
			c.Tests[i][j] = res
			flat = append(flat, res.P)
		}
	}
	corrected := Holm(flat)
	for i := range known {
		for j := i + 1; j < known; j++ {
			c.Corrected[i][j], corrected = corrected[0], corrected[1:]
		}
	}
	for i, rank := range clusters(ps, alpha) {
		c.Ranks[c.Order[i]] = rank
	}
	return c, nil
}

// Turned returns the result for the tables in the other order, with the same P.
func (r Result) Turned() Result {
	r.Delta = -r.Delta
	if r.Interval != nil {
		r.Interval = &correlate.Interval{Low: -r.Interval.High, High: -r.Interval.Low, Undefined: r.Interval.Undefined}
	}
	r.Draws = slices.Clone(r.Draws)
	for k, d := range r.Draws {
		r.Draws[k] = -d
	}
	return r
}

package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
)

// differences compares pairs of settings under all statistics.
func (r *run) differences(ctx context.Context, d *data, pairs []pair, res *Result) error {
	statistics := r.p.Statistics
	for _, st := range statistics {
		if _, err := r.p.Test.of(st); err != nil && r.p.Test.Resamples > 0 && len(pairs) > 0 {
			r.note("no p-values of %s: %v", st.Label(), err)
		}
	}
	n := len(statistics)
	out := make([]Difference, len(pairs)*n)
	err := parallel(ctx, len(out), func(ctx context.Context, i int) error {
		pr := pairs[i/n]
		if i%n == 0 {
			r.progress(d.Name, "%s against %s", pr.a.name, pr.b.name)
		}
		if err := r.difference(ctx, d, pr, statistics[i%n], &out[i]); err != nil {
			return fmt.Errorf("%s against %s: %w", pr.a.name, pr.b.name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	res.Differences = append(res.Differences, out...)
	return nil
}

func (r *run) difference(ctx context.Context, d *data, pr pair, st Statistic, out *Difference) error {
	p, err := r.paired(ctx, pr.a.table, pr.b.table, st, r.p.Bootstrap.Resamples)
	if err != nil {
		return err
	}
	x, y, a, b := p.x, p.y, p.a, p.b
	judged, scored := x.judged()
	*out = Difference{
		About: d.about(st), A: pr.a.name, B: pr.b.name, AName: pr.a.label, BName: pr.b.label,
		AValue: a.Value, BValue: b.Value, Value: p.value(), Interval: r.interval(p.resamples()),
		P: None(), Corrected: None(), N: a.N, Cells: scored, Missing: x.missing(), Unscored: judged - scored,
		drawn: d.drawn, Worst: pr.a.aggregator.TakesWorst(pr.a.series.higher()),
	}
	if out.AcrossMetrics() {
		out.AName, out.BName = out.A.Across(out.AName), out.B.Across(out.BName)
	}
	for i, ok := range x.GoldOK {
		if ok && x.MetricOK[i] && x.Metric[i] == y.Metric[i] {
			out.Equal++
		}
	}
	method, err := r.p.Test.of(st)
	if !out.Value.Defined() || r.p.Test.Resamples == 0 || out.Equal == out.Cells || a.Own != b.Own || err != nil {
		return nil
	}
	if out.Value < 0 {
		x, y = y, x
	}
	o := r.options(d)
	t, err := r.tests.get(keyOf(x.key(), y.key(), d.describe(st), method, o), func() (*significance.Result, error) {
		t, err := r.test(ctx, method, x, y, st, o)
		return &t, err
	})
	if err != nil {
		return err
	}
	out.Test, out.P, out.Resamples = method.String(), Number(t.P), t.Resamples
	out.Method, out.Units, out.leastP = method, a.Resamples.Units, d.leastP(r.p.Test, method)
	return nil
}

// paired is a statistic of two tables over their common cells, in the same resamples.
type paired struct {
	x, y *table // with only these cells
	a, b *estimate
}

func (r *run) paired(ctx context.Context, x, y *table, st Statistic, resamples int) (p paired, err error) {
	p.x, p.y = aligned(x, y)
	if p.a, err = r.estimate(ctx, p.x, st, resamples); err == nil {
		p.b, err = r.estimate(ctx, p.y, st, resamples)
	}
	return p, err
}

func (p *paired) value() Number                  { return p.a.Value - p.b.Value }
func (p *paired) resamples() correlate.Resamples { return p.a.Resamples.Less(p.b.Resamples) }

// ranks tests all settings against each other under every statistic.
func (r *run) ranks(ctx context.Context, d *data, settings []*setting, res *Result) error {
	if r.p.Pairing != EveryPair {
		return nil
	}
	for _, st := range r.p.Statistics {
		c, _, err := r.task(ctx, d, settings, &Task{Statistic: st, Method: r.p.Test.Method})
		if errors.Is(err, correlate.ErrTooManyPairs) {
			return planErrorf("--test %v: %w; perm-pairs needs no calibration in each resample", r.p.Test.Method, err)
		} else if err != nil {
			return err
		}
		ranks := Ranks{About: d.about(st), Comparison: c}
		if len(settings) > 0 && r.p.Test.Resamples > 0 {
			e, err := r.estimate(ctx, settings[0].table, st, r.p.Bootstrap.Resamples)
			if err != nil {
				return err
			}
			ranks.Method, err = r.p.Test.of(st)
			if err != nil {
				return err
			}
			ranks.Units, ranks.LeastP = e.Resamples.Units, d.leastP(r.p.Test, ranks.Method)
		}
		res.Ranks = append(res.Ranks, ranks)
	}
	return nil
}

// testable rejects a test that recalibrates in each resample if it would take days.
func testable(m significance.Method, st Statistic, t *table) error {
	if st.Level != correlate.SegmentLevel || m == significance.MethodPermPairs || m == significance.MethodWilliams {
		return nil
	}
	return st.Measure.Resamplable(t.Pairs)
}

// options are the settings of the tests on a dataset.
func (r *run) options(d *data) significance.Options {
	t := r.p.Test
	return significance.Options{Resamples: t.Resamples, Block: t.Block, Seed: t.Seed, Units: d.units, OneSided: t.OneSided}
}

// test tests whether table x has the larger value.
func (r *run) test(ctx context.Context, method significance.Method, x, y *table, st Statistic, o significance.Options) (significance.Result, error) {
	if method == significance.MethodBootstrap && o.Seed == r.p.Bootstrap.Seed { // with the resamples of an interval
		p, err := r.paired(ctx, x, y, st, o.Resamples)
		if err != nil {
			return significance.Result{}, err
		}
		if a, b := p.a, p.b; len(a.Resamples.Values) > 0 && len(b.Resamples.Values) > 0 {
			res := significance.Bootstrapped(float64(a.Value), float64(b.Value), a.Resamples, b.Resamples, o)
			_, res.Cells = x.judged()
			return res, nil
		}
	}
	var tables [2]*correlate.Pairs
	for i, t := range []*table{x, y} {
		var err error
		if tables[i], err = t.prepared(st); err != nil {
			return significance.Result{}, err
		}
	}
	return significance.Compare(ctx, method, tables[0], tables[1], st.Measure, o)
}

// correct corrects the p-values of the settings of each metric under a statistic together,
// and decides which are significant.
func (r *run) correct(res *Result) {
	alpha := 1 - r.p.Bootstrap.Confidence
	for i := range res.Differences {
		d := &res.Differences[i]
		family := res.Family(d)
		if d.P.Defined() && !d.Corrected.Defined() {
			var p []float64
			for _, d := range family {
				p = append(p, float64(d.P))
			}
			for k, c := range significance.Holm(p) {
				family[k].Corrected = Number(c)
			}
		}
		off := d.Interval == nil || !d.Interval.Contains(0)
		small := significance.Significant(float64(d.Corrected), alpha)
		decided := small
		if !d.Corrected.Defined() {
			// An interval without width comes from a table too small to resample.
			decided = d.Interval != nil && d.Interval.Low < d.Interval.High
		}
		d.Significant = decided && off && d.Value.Defined() && d.Value != 0
		// With so few resamples or units, even the smallest p-value would not be significant.
		enough := r.p.Test.Enough(alpha, max(1, len(family)), d.Method, d.Units)
		switch {
		case !d.Corrected.Defined() || d.Resamples == 0 || small:
		case d.Resamples < enough && enough <= correlate.MaxResamples:
			d.Few = "resamples"
		case d.Resamples < enough || d.leastP*float64(len(family)) > alpha:
			d.Few = d.drawn + "s"
		}
		if d.Undecided = off && d.Few != "" || small && !off; off && d.Few == "resamples" {
			r.note("%d resamples of a test cannot find anything significant among %d differences; raise significance.resamples to %d, or compare fewer",
				d.Resamples, len(family), enough)
		}
	}
}

// Family returns the differences with a p-value that are corrected together with d: those of
// its metric under its statistic.
func (r *Result) Family(d *Difference) []*Difference {
	var out []*Difference
	for i := range r.Differences {
		if o := &r.Differences[i]; o.P.Defined() && o.About == d.About && o.Subject() == d.Subject() {
			out = append(out, o)
		}
	}
	return out
}

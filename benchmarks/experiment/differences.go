package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
)

// differences compares pairs of settings under all statistics.
func (r *run) differences(ctx context.Context, d *data, pairs []pair, res *Result, p *pool) error {
	for _, pr := range pairs {
		r.progress("%s: %s against %s", d.Name, pr.a.name, pr.b.name)
		for _, st := range r.e.Statistics {
			diff, err := r.difference(ctx, d, pr, st)
			if err != nil {
				return fmt.Errorf("%s against %s: %w", pr.a.name, pr.b.name, err)
			}
			res.Differences = append(res.Differences, *diff)
			p.compare(pr, st)
		}
	}
	return nil
}

func (r *run) difference(ctx context.Context, d *data, pr pair, st Statistic) (*Difference, error) {
	x, y, err := aligned(pr.a.table, pr.b.table)
	if err != nil {
		return nil, err
	}
	a, err := r.estimate(ctx, x, st, r.e.Bootstrap.Resamples)
	if err != nil {
		return nil, err
	}
	b, err := r.estimate(ctx, y, st, r.e.Bootstrap.Resamples)
	if err != nil {
		return nil, err
	}
	judged, scored := x.judged()
	out := &Difference{
		About: d.about(st), A: pr.a.name, B: pr.b.name, AName: pr.a.label, BName: pr.b.label,
		AValue: a.Value, BValue: b.Value, Value: a.Value - b.Value, Interval: r.interval(differences(a.resamples, b.resamples)),
		P: None(), Corrected: None(), N: a.N, Cells: scored, Missing: judged - scored,
	}
	for i, ok := range x.GoldOK {
		if ok && x.MetricOK[i] && x.Metric[i] == y.Metric[i] {
			out.Equal++
		}
	}
	if out.ATies, err = x.ties(st); err != nil {
		return nil, err
	}
	if out.BTies, err = y.ties(st); err != nil {
		return nil, err
	}
	if !out.Value.Defined() || r.e.Test.Resamples == 0 || out.Equal == out.Cells {
		return out, nil
	}
	if out.Value < 0 {
		x, y = y, x
	}
	t, err := r.test(ctx, x, y, st)
	if err != nil || t == nil {
		return out, err
	}
	out.Test, out.P, out.Resamples = r.e.Test.Method.String(), Number(t.P), t.Resamples
	return out, nil
}

// storedTest is a test's result in the store.
type storedTest struct {
	Delta     Number `json:"delta"`
	P         Number `json:"p"`
	Resamples int    `json:"resamples"`
	Cells     int    `json:"cells"`
}

// test tests whether table x has the larger value. It is nil where the method
// does not take the statistic.
func (r *run) test(ctx context.Context, x, y *table, st Statistic) (*significance.Result, error) {
	method := r.e.Test.Method
	if err := method.Takes(st.Measure); err != nil {
		r.note("no p-values of %s: %v", st.Label(), err)
		return nil, nil
	}
	key := newDigest("test")
	key.text(x.key)
	key.text(y.key)
	key.statistic(x.data, st)
	key.text(method.String())
	for _, n := range []uint64{uint64(r.e.Test.Resamples), uint64(r.e.Test.Block), r.e.Test.Seed} {
		key.number(n)
	}
	name := key.sum()
	if t := r.tests[name]; t != nil {
		return t, nil
	}
	var stored storedTest
	found, err := r.Store.read("test", name, &stored)
	if err != nil {
		r.warn("%v", err)
	}
	if found {
		r.usage.ReusedStatistics++
	} else {
		var tables [2]*correlate.Pairs
		for i, t := range []*table{x, y} {
			if tables[i], err = t.prepared(st); err != nil {
				return nil, err
			}
		}
		o := significance.Options{Resamples: r.e.Test.Resamples, Block: r.e.Test.Block, Seed: r.e.Test.Seed}
		t, err := significance.Compare(ctx, method, tables[0], tables[1], st.Measure, o)
		if err != nil {
			return nil, err
		}
		stored = storedTest{Number(t.Delta), Number(t.P), t.Resamples, t.Cells}
		if err := r.Store.write("test", name, stored); err != nil {
			return nil, err
		}
		r.usage.ComputedStatistics++
	}
	t := &significance.Result{Delta: float64(stored.Delta), P: float64(stored.P), Resamples: stored.Resamples, Cells: stored.Cells}
	r.tests[name] = t
	return t, nil
}

// correct corrects the p-values of each dataset and statistic, and decides
// what is significant.
func (r *run) correct(res *Result) {
	families := map[[2]string][]int{}
	var order [][2]string
	for i := range res.Differences {
		d := &res.Differences[i]
		if d.P.Defined() {
			key := [2]string{d.Dataset, d.Statistic}
			if families[key] == nil {
				order = append(order, key)
			}
			families[key] = append(families[key], i)
		}
	}
	for _, key := range order {
		var p []float64
		for _, i := range families[key] {
			// A test cannot tell less than one resample, and a correction must
			// not make a certainty of that.
			d := &res.Differences[i]
			least := 0.0
			if d.Resamples > 0 {
				least = 1 / float64(d.Resamples)
			}
			p = append(p, max(float64(d.P), least))
			if least*float64(len(families[key])) >= 1-r.e.Bootstrap.Confidence {
				r.note("%s, %s: %d resamples are too few to find anything significant among %d differences; raise significance.resamples, or compare fewer",
					key[0], key[1], d.Resamples, len(families[key]))
			}
		}
		for k, c := range significance.Holm(p) {
			res.Differences[families[key][k]].Corrected = Number(c)
		}
	}
	alpha := 1 - r.e.Bootstrap.Confidence
	for i := range res.Differences {
		d := &res.Differences[i]
		off := d.Interval == nil || !d.Interval.Contains(0)
		small := !d.Corrected.Defined() || float64(d.Corrected) < alpha
		// An interval without a width is of a table too small to resample.
		wide := d.Interval != nil && d.Interval.Low < d.Interval.High
		known := wide || d.Corrected.Defined()
		d.Significant = known && off && small && d.Value.Defined() && d.Value != 0
	}
}

// pooledName stands for all datasets together.
const pooledName = "pooled"

// pool gathers statistics of systems over datasets: pairs of systems are
// compared within a dataset, never across.
type pool struct {
	entries []*pooledEntry
	pairs   []pooledPair
}

type pooledEntry struct {
	name      SettingName
	label     string
	statistic Statistic
	parts     []*estimate
	datasets  []string
	missing   int
	systems   int
	refs      [2]int
}

type pooledPair struct {
	a, b      SettingName
	statistic Statistic
}

// add takes in the accuracy of a setting.
func (p *pool) add(d *data, s *setting, st Statistic, est *estimate) {
	if st.Measure.Statistic != correlate.StatAccuracy {
		return
	}
	e := p.find(s.name, st)
	if e == nil {
		e = &pooledEntry{name: s.name, label: s.label, statistic: st, refs: [2]int{s.table.minRefs, s.table.maxRefs}}
		p.entries = append(p.entries, e)
	}
	judged, scored := s.table.judged()
	e.missing += judged - scored
	e.systems += s.table.Systems
	e.refs = [2]int{min(e.refs[0], s.table.minRefs), max(e.refs[1], s.table.maxRefs)}
	e.parts = append(e.parts, est)
	e.datasets = append(e.datasets, d.Name)
}

func (p *pool) find(name SettingName, st Statistic) *pooledEntry {
	for _, e := range p.entries {
		if e.name == name && e.statistic == st {
			return e
		}
	}
	return nil
}

func (p *pool) compare(pr pair, st Statistic) {
	pp := pooledPair{pr.a.name, pr.b.name, st}
	if st.Measure.Statistic == correlate.StatAccuracy && !slices.Contains(p.pairs, pp) {
		p.pairs = append(p.pairs, pp)
	}
}

// value is the share over all pairs of systems, and that of each resample.
func (e *pooledEntry) value() (v float64, n int, resamples []float64) {
	var sum float64
	for _, est := range e.parts {
		sum += float64(est.Value) * float64(est.N)
		n += est.N
	}
	for i := range e.parts[0].resamples {
		var s float64
		for _, est := range e.parts {
			if i >= len(est.resamples) {
				return sum / float64(n), n, nil
			}
			s += est.resamples[i] * float64(est.N)
		}
		resamples = append(resamples, s/float64(n))
	}
	return sum / float64(n), n, resamples
}

// pooled adds rows and differences of all datasets together.
func (r *run) pooled(p *pool, res *Result) {
	if len(res.Datasets) < 2 {
		return
	}
	about := func(st Statistic) About {
		return About{Dataset: pooledName, Human: "", Statistic: st.Label(), Level: st.Level.String(), Group: st.Grouping.String()}
	}
	whole := func(e *pooledEntry) bool { return e != nil && len(e.parts) == len(res.Datasets) }
	for _, e := range p.entries {
		if !whole(e) {
			continue
		}
		v, n, resamples := e.value()
		if math.IsNaN(v) {
			continue
		}
		res.Rows = append(res.Rows, Row{
			About: about(e.statistic), Setting: e.name, MinReferences: e.refs[0], MaxReferences: e.refs[1],
			Value: Number(v), Interval: r.interval(resamples), N: n, Missing: e.missing, Systems: e.systems, Groups: e.systems,
			Ties: None(), Epsilon: None(),
		})
		r.note("pooled: pairs of systems of all datasets, compared within their dataset; there is no test of it")
	}
	for _, pp := range p.pairs {
		a, b := p.find(pp.a, pp.statistic), p.find(pp.b, pp.statistic)
		if !whole(a) || !whole(b) {
			continue
		}
		av, n, x := a.value()
		bv, _, y := b.value()
		res.Differences = append(res.Differences, Difference{
			About: about(pp.statistic), A: a.name, B: b.name, AName: a.label, BName: b.label,
			AValue: Number(av), BValue: Number(bv), Value: Number(av - bv), Interval: r.interval(differences(x, y)),
			P: None(), Corrected: None(), N: n, Missing: max(a.missing, b.missing), ATies: None(), BTies: None(),
		})
	}
}

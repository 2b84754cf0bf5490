package experiment

import (
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

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
	unscored  int
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
	e.missing += s.table.missing()
	e.unscored += judged - scored
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
	for i := range e.parts[0].Resamples {
		var s float64
		for _, est := range e.parts {
			if i >= len(est.Resamples) {
				return sum / float64(n), n, nil
			}
			s += est.Resamples[i] * float64(est.N)
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
			Value: Number(v), Interval: r.interval(resamples), N: n, Missing: e.missing, Unscored: e.unscored, Systems: e.systems, Groups: e.systems,
			Ties: report.None(), Epsilon: report.None(),
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
			P: report.None(), Corrected: report.None(), N: n, Missing: max(a.missing, b.missing), Unscored: max(a.unscored, b.unscored), ATies: report.None(), BTies: report.None(),
		})
	}
}

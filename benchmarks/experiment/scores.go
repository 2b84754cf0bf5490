package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/metrics"
)

// series holds the scores of one metric for the dataset at hand.
type series struct {
	metric metrics.Metric
	info   metrics.Info
	own    bool   // the scores were made elsewhere
	file   bool   // in a file of the plan
	shared string // name of the metric in other datasets, where it is another one; "" for the same
	// stated is how many references own scores of segments are said to be of.
	stated  int
	systems map[string]float64     // own scores of systems; nil where there are none
	cells   []refract.MetricScores // by segment, against all references
	natives sync.Map               // *refract.MetricScores by nativeKey, against some of them
}

// allSeries lists the series of a dataset: of the metrics, which are yet to be
// scored, then its own.
func (r *run) allSeries(ctx context.Context, d *data) ([]*series, error) {
	var out []*series
	language := d.Language
	if language == "" {
		_, language = dataset.LanguagePair(r.p.Path(d.Spec))
	} else {
		_, language, _ = dataset.Languages(language) // which Plan.check has read
	}
	for _, m := range r.metrics {
		m = metrics.InLanguage(m, language)
		fitted, err := refract.Fit(ctx, dataset.InMemory(d.segments), []refract.Setting{{Metric: m}})
		if err != nil {
			return nil, err
		}
		out = append(out, &series{metric: fitted[0].Metric, info: m.Info()})
	}
	// Scores made elsewhere are of the whole dataset.
	whole := *d
	whole.segments = d.read
	for _, own := range []func(context.Context, *data) ([]*series, error){r.matrixSeries, r.fileSeries, r.storedSeries} {
		of, err := own(ctx, &whole)
		if err != nil {
			return nil, err
		}
		for _, s := range of {
			if err := d.choose(s); err != nil {
				return nil, err
			}
		}
		out = append(out, of...)
	}
	for i, s := range out {
		if slices.ContainsFunc(out[:i], func(t *series) bool { return t.info.Name == s.info.Name }) {
			return nil, fmt.Errorf("two metrics are named %q", s.info.Name)
		}
		if slices.ContainsFunc(out, func(t *series) bool { // such as COMET of the source alone, or scores of one's own
			return t != s && (t.info.Name == s.shared || t.shared == s.shared && t.stated > s.stated)
		}) {
			s.shared = ""
		}
	}
	return out, nil
}

// choose leaves the scores of what is chosen of the dataset.
func (d *data) choose(s *series) error {
	if d.Choice.All() {
		return nil
	}
	cells := make([]refract.MetricScores, len(d.segments))
	for i, k := range d.kept {
		of := refract.SegmentScores{Segment: d.read[k], Metrics: s.cells[k : k+1]}
		var err error
		if cells[i], err = rowsOf(d.segments[i], &of, 0, s.cells[k].Columns); err != nil {
			return err
		}
	}
	s.cells = cells
	return nil
}

// signature is that of a setting.
func (s *series) signature(a aggregate.Aggregator, lo, hi int, set string) string {
	if _, ok := s.metric.(*stated); ok {
		return storedSpec
	}
	of := refract.Setting{Metric: s.metric, Aggregator: a}
	return refract.SettingSignature(of, metrics.Sentence, refract.ReferenceCount(lo, hi), set).String()
}

// hasNative says whether there is a native score of a series.
func (s *series) hasNative() bool {
	if m, ok := s.metric.(*matrix.Metric); ok {
		return m.Stored.HasNative()
	}
	return metrics.HasNative(s.metric)
}

// wants are the settings that an engine must be made for, so that all that the
// run asks of a metric can be told from its scores.
func (r *run) wants(s *series, settings []*setting) (out []refract.Setting) {
	if !s.info.NeedsReferences {
		return []refract.Setting{{Metric: s.metric, Aggregator: r.p.Aggregators[0]}}
	}
	native := r.scope() == refract.Auto && s.hasNative() ||
		slices.ContainsFunc(settings, func(t *setting) bool { return t.series == s && t.aggregator.Native() && t.whole })
	for _, a := range r.p.Aggregators {
		if !a.Native() || native {
			out = append(out, refract.Setting{Metric: s.metric, Aggregator: a.For(s.higher())})
		}
	}
	if len(out) == 0 {
		out = []refract.Setting{{Metric: s.metric}}
	}
	return out
}

// engine makes an engine for scoring all references of a dataset. goOn says that
// there are scores of others beside it.
func (r *run) engine(settings []refract.Setting, everyCell, goOn bool) (*refract.Engine, error) {
	o := r.Options
	o.ContinueWithoutMetrics = goOn
	o.Scope, o.Warn = r.scope(), func(m string) { r.warn("%s", m) }
	if r.Store != nil {
		o.StoreRest = r.Store
	}
	o.Missing, o.EveryCell, o.AllowNoReferences = r.p.Missing, everyCell, true // checked before
	return refract.NewEngine(settings, o)
}

// scope is that of the engine's system scores, which Scored alone may ask for.
func (r *run) scope() refract.Scope {
	if r.Scored == nil {
		return refract.Averaged
	}
	return r.Options.Scope
}

// checkReferences wants a reference of every segment where the metric needs one.
func (d *data) checkReferences(s *series) error {
	if !s.info.NeedsReferences || d.AllowNoReference {
		return nil
	}
	for _, seg := range d.segments {
		if !slices.ContainsFunc(seg.AllReferences(nil), func(t refract.Text) bool { return t.Valid }) {
			return &refract.NoReferencesError{Metric: s.info.Name, ID: seg.ID, Pos: seg.Pos}
		}
	}
	return nil
}

// score makes the scores of all series that are not a dataset's own, in one pass
// over the dataset.
func (r *run) score(ctx context.Context, d *data, settings []*setting, everyCell bool) error {
	var full, todo []refract.Setting
	var scored []*series
	for _, s := range d.series {
		of := r.wants(s, settings)
		full = append(full, of...)
		if s.own {
			continue
		}
		if err := d.checkReferences(s); err != nil && r.p.Dir != "" {
			return fmt.Errorf("%v: write allow_no_reference: true at the dataset", err) // a flag is no help
		} else if err != nil {
			return err
		}
		r.progress("scoring %s: %s", d.Name, s.info.Name)
		todo, scored = append(todo, of...), append(scored, s)
		s.cells = make([]refract.MetricScores, len(d.segments))
	}
	engine, err := r.engine(full, everyCell, false)
	if err != nil {
		return err
	}
	working, err := r.engine(todo, everyCell, len(scored) < len(d.series))
	if err != nil {
		return err
	}
	i := 0
	var failed *refract.Incomplete
	err = working.Run(ctx, dataset.InMemory(d.segments), func(out *refract.SegmentScores) error {
		for k, s := range scored {
			s.cells[i] = out.Metrics[k]
			r.scored(&s.cells[i])
		}
		i++
		if r.Scored == nil {
			return nil
		}
		whole := &refract.SegmentScores{Segment: out.Segment}
		for _, s := range d.series {
			whole.Metrics = append(whole.Metrics, s.cells[i-1])
		}
		err := r.Scored(d.Name, engine, whole)
		for _, s := range d.series {
			s.cells[i-1].First, s.cells[i-1].All = nil, nil // a corpus score is Scored's to make
		}
		return err
	})
	if errors.As(err, &failed) {
		r.ended(d, failed)
		d.series = slices.DeleteFunc(d.series, func(s *series) bool { return slices.Contains(failed.Metrics, s.info.Name) })
		return nil
	}
	return err
}

// scored counts what was scored, and what a store had.
func (r *run) scored(ms *refract.MetricScores) {
	scored := -ms.Stored
	for _, s := range ms.Status {
		if s == metrics.Scored {
			scored++
		}
	}
	r.count(func(u *Usage) { u.ScoredCells, u.ReusedCells = u.ScoredCells+scored, u.ReusedCells+ms.Stored })
}

package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/metrics"
)

// series holds the scores of one metric for a dataset.
type series struct {
	metric metrics.Metric
	info   metrics.Info
	own    bool   // the scores were computed elsewhere
	file   bool   // from a file of the plan
	shared string // name of the metric in other datasets, if different; "" for the same
	// stated is the number of references that existing segment scores are said to use.
	stated  int
	systems map[string]float64       // existing scores of systems; nil if there are none
	cells   []*refract.MetricScores  // by segment, against all references
	natives map[string]*nativeScores // by nativeKey, against some references
}

// allSeries lists the series of a dataset: first the metrics, still to be scored, then
// existing scores.
func (r *run) allSeries(ctx context.Context, d *data) ([]*series, error) {
	var out []*series
	language := d.Language
	if language == "" {
		_, language = dataset.LanguagePair(r.p.Path(d.Spec))
	} else {
		_, language, _ = dataset.Languages(language) // already checked by Plan.check
	}
	l := dataset.Localize(r.metrics, language, d.segments, func(m string) { r.warn("%s: %s", d.Name, m) })
	for _, s := range d.segments {
		if err := l.Check(s); err != nil && d.Language == "" {
			return nil, err
		}
	}
	for _, m := range l.Metrics {
		fitted, err := refract.Fit(ctx, refract.InMemory(d.segments), []refract.Setting{{Metric: m}})
		if err != nil {
			return nil, err
		}
		out = append(out, &series{metric: fitted[0].Metric, info: m.Info()})
	}
	// Existing scores cover the whole dataset.
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
		if slices.ContainsFunc(out, func(t *series) bool { // such as COMET without references, or the user's scores
			return t != s && (t.info.Name == s.shared || t.shared == s.shared && t.stated > s.stated)
		}) {
			s.shared = ""
		}
	}
	return out, nil
}

// choose keeps only the scores of the chosen part of the dataset.
func (d *data) choose(s *series) error {
	if d.Choice.All() {
		return nil
	}
	cells := make([]*refract.MetricScores, len(d.segments))
	for i, k := range d.kept {
		of := refract.SegmentScores{Segment: d.read[k], Metrics: []refract.MetricScores{*s.cells[k]}}
		var err error
		if cells[i], err = rowsOf(d.segments[i], &of, 0, s.cells[k].Columns); err != nil {
			return err
		}
	}
	s.cells = cells
	return nil
}

// signature returns the signature of a setting.
func (s *series) signature(a aggregate.Aggregator, lo, hi int, set string) string {
	if _, ok := s.metric.(*stated); ok && !s.info.NeedsReferences {
		return storedSpec
	}
	of := refract.Setting{Metric: s.metric, Aggregator: a}
	return refract.SettingSignature(of, metrics.Sentence, refract.ReferenceCount(lo, hi), set).String()
}

// hasNative reports whether a series has native scores.
func (s *series) hasNative() bool {
	if m, ok := s.metric.(*matrix.Metric); ok {
		return m.Stored.HasNative()
	}
	return metrics.HasNative(s.metric)
}

// wants returns the settings that an engine must be made for, so that its scores determine
// everything that the run asks of a metric.
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

// engine makes an engine that scores all references of a dataset. goOn says that there are
// also scores from elsewhere.
func (r *run) engine(settings []refract.Setting, everyCell, goOn bool) (*refract.Engine, error) {
	o := r.Options
	o.ContinueWithoutMetrics = goOn
	o.Scope, o.Warn = r.scope(), func(m string) { r.warn("%s", m) }
	o.Missing, o.EveryCell, o.AllowNoReferences = r.p.Missing, everyCell, true // checked before
	return refract.NewEngine(settings, o)
}

// scope is the scope of the engine's system scores, which only Scored may need.
func (r *run) scope() refract.Scope {
	if r.Scored == nil {
		return refract.Averaged
	}
	return r.Options.Scope
}

// checkReferences checks that every segment has a reference if the metric needs one.
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

// score scores all series without existing scores, in one pass over the dataset.
// once says that they are of use only for the tables of the settings, so that cells may be left
// out, and texts can go.
func (r *run) score(ctx context.Context, d *data, settings []*setting, once bool) error {
	var full, todo []refract.Setting
	var scored []*series
	for _, s := range d.series {
		of := r.wants(s, settings)
		full = append(full, of...)
		if s.own {
			continue
		}
		if err := d.checkReferences(s); err != nil && r.p.Dir != "" {
			return fmt.Errorf("%v: write allow_no_reference: true at the dataset", err) // there is no flag for it here
		} else if err != nil {
			return err
		}
		r.progress("scoring "+d.Name, "%s", s.info.Name)
		todo, scored = append(todo, of...), append(scored, s)
		s.cells = make([]*refract.MetricScores, len(d.segments))
	}
	engine, err := r.engine(full, !once, false)
	if err != nil {
		return err
	}
	working, err := r.engine(todo, !once, len(scored) < len(d.series))
	if err != nil {
		return err
	}
	i := 0
	var failed *refract.Incomplete
	err = working.Run(ctx, refract.InMemory(d.segments), func(out *refract.SegmentScores) error {
		for k, s := range scored {
			s.cells[i] = &out.Metrics[k]
		}
		if once {
			d.release(i)
		}
		i++
		if r.Scored == nil {
			return nil
		}
		if len(scored) < len(d.series) {
			out = &refract.SegmentScores{Segment: out.Segment}
			for _, s := range d.series {
				out.Metrics = append(out.Metrics, *s.cells[i-1])
			}
		}
		err := r.Scored(d.Name, engine, out)
		for _, s := range d.series {
			s.cells[i-1].First, s.cells[i-1].All = nil, nil // corpus scores are left to Scored
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

package refract

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Setting is one way to score: a metric and an aggregator over references. The
// zero Aggregator asks only for the matrix of cells. Metrics are compared with
// ==, so settings can share a metric.
type Setting struct {
	Metric     metrics.Metric
	Aggregator aggregate.Aggregator
}

// AggregatorName returns the name of the aggregator, "" for a metric that needs no
// references.
func (s Setting) AggregatorName() string {
	if !s.Metric.Info().NeedsReferences {
		return ""
	}
	return s.Aggregator.Name()
}

// String returns the name of the setting for people, such as "bleu max".
func (s Setting) String() string {
	return strings.TrimSpace(s.Metric.Info().Name + " " + s.AggregatorName())
}

// Options configure an engine. The zero value of an option is its default.
type Options struct {
	Scope   Scope            // how system scores are computed
	Missing aggregate.Policy // for missing scores of references
	// AllowNoReferences accepts segments without references: their cells get the
	// status MissingReference. Otherwise they are a *NoReferencesError.
	AllowNoReferences bool
	// EveryCell scores every cell. Otherwise a metric that is not a Preparer scores
	// only the first column if no setting needs more; the scores are the same, but
	// the number of references without a score is then unknown. A policy other than
	// Exclude implies EveryCell.
	EveryCell bool
	// ContinueWithoutMetrics keeps yielding segments after every metric has failed,
	// because the caller has scores from elsewhere.
	ContinueWithoutMetrics bool
	// Workers is the number of calls of a metric that run at a time, and Batch the
	// number of segments in a call. They default to GOMAXPROCS and 16, and metrics with
	// a metrics.Pace ignore them. If Workers is 1, and every metric is a Preparer that
	// needs no source, a run starts no goroutines: a few short texts are scored faster
	// without.
	Workers, Batch int
	// MaxText bounds the text of a segment in bytes; default DefaultMaxText, negative
	// for no bound. N-grams take about a hundred times as much memory as the text.
	MaxText int
	// Store keeps the scores of metrics that are Storable, so that later runs with any
	// settings and datasets compute only new scores; nil keeps nothing.
	Store ScoreStore
	// Warn, if not nil, gets warnings: about damaged stored scores, and in a run about
	// segments without a source and about what a metrics.Remarker overlooks in the
	// first segments.
	Warn func(message string)
	// Observe, if not nil, is called in a run with the number of segments that a metric
	// has scored since the last call. It must be safe for concurrent use.
	Observe func(m metrics.Metric, segments int)
}

// Engine scores every system against every reference of a dataset. It is immutable and
// safe for concurrent use.
type Engine struct {
	options  Options
	settings []Setting
	metric   []int // for each setting, the index of its metric in scorers
	pooled   []bool
	scorers  []scorer // one per distinct metric
	inline   bool     // runs start no goroutines
}

// NewEngine returns an engine that computes what the settings need. The error is
// about a setting that the scope does not allow, or a metric that is not fitted.
func NewEngine(settings []Setting, o Options) (*Engine, error) {
	inline := o.Workers == 1
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Batch < 1 {
		o.Batch = 16
	}
	if o.MaxText == 0 {
		o.MaxText = DefaultMaxText
	}
	o.EveryCell = o.EveryCell || o.Missing != aggregate.Exclude // any missing cell would matter
	e := &Engine{options: o, settings: slices.Clone(settings)}
	var err error
	if e.pooled, err = o.Scope.pools(settings); err != nil {
		return nil, err
	}
	for i, set := range settings {
		if f, ok := unfitted(set.Metric); ok {
			return nil, fmt.Errorf("%s is not fitted to the references of a dataset: see Fit", f.Info().Name)
		}
		k := slices.IndexFunc(e.scorers, func(s scorer) bool { return s.metric == set.Metric })
		if k < 0 {
			k = len(e.scorers)
			e.scorers = append(e.scorers, scorer{metric: set.Metric, info: set.Metric.Info(), index: k, needs: needs{all: o.EveryCell}})
		}
		e.scorers[k].needs.add(set, e.pooled[i])
		e.metric = append(e.metric, k)
	}
	damage := o.damage()
	for k := range e.scorers {
		s := &e.scorers[k]
		s.open(o.Store, damage)
		inline = inline && s.workspaces != nil && !s.info.NeedsSource
	}
	e.inline = inline
	return e, nil
}

// damage returns a function that warns of damaged scores at its first call only.
func (o *Options) damage() func() {
	warn := o.Warn
	return sync.OnceFunc(func() {
		if warn != nil {
			warn("a stored score is damaged, or of another version: such scores are computed again")
		}
	})
}

// Settings returns the settings that the engine was created with.
func (e *Engine) Settings() []Setting { return slices.Clone(e.settings) }

// Metrics returns the metrics of the settings, each once, in order.
func (e *Engine) Metrics() []metrics.Metric {
	out := make([]metrics.Metric, len(e.scorers))
	for k := range e.scorers {
		out[k] = e.scorers[k].metric
	}
	return out
}

// Pools reports whether system scores under a setting pool statistics.
func (e *Engine) Pools(setting int) bool { return e.pooled[setting] }

// SegmentScores holds all scores of one segment.
type SegmentScores struct {
	Segment *Segment
	Metrics []MetricScores // as Engine.Metrics orders them
}

// MetricScores holds the scores of one metric for one segment. Rows are the
// segment's hypotheses, missing ones included. Columns are its references in the
// order of AllReferences, or a single column if the metric needs no references or the
// segment has none. All slices are row-major.
type MetricScores struct {
	Columns int // at least 1
	// Values are in the metric's units, and meaningless unless the status is
	// Scored.
	Values []float64
	Status []metrics.Status
	// Native has one score per hypothesis, and NativeStatus its status. Both are nil
	// if nothing of the segment could be scored.
	Native       []float64
	NativeStatus []metrics.Status
	// Reports explain the cells. The slice is nil if the metric explains nothing, an
	// element if it does not explain that cell.
	Reports []*analysis.Report
	// First and All have one row of statistics per hypothesis, against the first
	// reference and against all. Rows of hypotheses whose status is not Scored are 0.
	First, All []float64
}

// NoReferencesError says that a segment has no reference although a metric needs
// one.
type NoReferencesError struct {
	Metric, ID string
	Pos        Position
}

// Error says where the segment is and what to do.
func (e *NoReferencesError) Error() string {
	return fmt.Sprintf("%ssegment %q has no reference, which %s needs; add one, take the segment out, or let its scores be missing", e.Pos.prefix(), e.ID, e.Metric)
}

// NoSourceError says that no segment has a source although a metric needs sources.
type NoSourceError struct{ Metric string }

// Error says what to do.
func (e *NoSourceError) Error() string {
	return fmt.Sprintf("no segment has a source, which %s needs; add the sources to the data, or leave the metric out", e.Metric)
}

// DefaultMaxText is the default of Options.MaxText: 8 MiB.
const DefaultMaxText = 8 << 20

// TooLongError says that a segment has more text than Options.MaxText.
type TooLongError struct {
	ID         string
	Pos        Position
	Bytes, Max int
}

// Error says where the segment is and what to do.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("%ssegment %q has %.1f MiB of text, more than the bound of %.1f, because scoring takes about a hundred times as much memory; take it out, or raise the bound (--max-text, Options.MaxText)",
		e.Pos.prefix(), e.ID, float64(e.Bytes)/(1<<20), float64(e.Max)/(1<<20))
}

// Score scores a batch of segments, as Run does for a stream. It depends only on
// its arguments, and stops at the first metric that fails.
func (e *Engine) Score(ctx context.Context, segments []*Segment) ([]*SegmentScores, error) {
	batch := make([]*segmentWork, len(segments))
	out := make([]*SegmentScores, len(segments))
	for i, s := range segments {
		var err error
		if batch[i], err = e.newWork(s); err != nil {
			return nil, err
		}
		out[i] = batch[i].scores
	}
	for k := range e.scorers {
		if _, err := e.scorers[k].score(ctx, batch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Fit returns the settings with every metrics.Fitter fitted that is not fitted yet. A
// metric is fitted to all present references of the dataset, originals and variants, even
// if the setting uses only some of them. Each such metric takes one pass over the dataset.
func Fit(ctx context.Context, ds Dataset, settings []Setting) ([]Setting, error) {
	out, fitted := slices.Clone(settings), map[metrics.Metric]metrics.Metric{}
	for i, s := range out {
		f, ok := unfitted(s.Metric)
		if !ok {
			continue
		}
		if fitted[f] == nil {
			m, err := f.Fit(ctx, validReferences(ctx, ds))
			if err != nil {
				return nil, fmt.Errorf("fit %s: %w", f.Info().Name, err)
			}
			fitted[f] = m
		}
		out[i].Metric = fitted[f]
	}
	return out, nil
}

// NeedsFit reports whether Fit would fit any metric.
func NeedsFit(settings []Setting) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool { _, ok := unfitted(s.Metric); return ok })
}

func unfitted(m metrics.Metric) (metrics.Fitter, bool) {
	f, ok := m.(metrics.Fitter)
	return f, ok && !f.Fitted()
}

// validReferences yields the texts of the references of each segment.
func validReferences(ctx context.Context, ds Dataset) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		var all []Text
		for seg, err := range ds.Segments(ctx) {
			var texts []string
			if err == nil {
				all = seg.AllReferences(all[:0])
				for _, t := range all {
					if t.Valid {
						texts = append(texts, t.Value)
					}
				}
			}
			if !yield(texts, err) {
				return
			}
		}
	}
}

// Scores are the scores of a dataset under one setting, in the units of its metric. NaN is
// a score that is missing, which is not 0.
type Scores struct {
	Setting   Setting
	Signature string             // all that the scores of systems depend on, of the first system
	Systems   map[string]float64 // by system
	Totals    []SystemScore      // the same with their coverage, in the order of the systems
	Segments  []SegmentScore     // in the order of the dataset
}

// SegmentScore has the scores of one segment.
type SegmentScore struct {
	ID      string
	Systems map[string]float64
	Status  map[string]metrics.Status // by system, why a score is missing; others are metrics.Scored
}

// Score scores all hypotheses of a dataset under one setting, and keeps the scores of all
// segments. An [Engine] scores under several settings at a time, without keeping them.
func Score(ctx context.Context, ds Dataset, setting Setting) (*Scores, error) {
	settings, err := Fit(ctx, ds, []Setting{setting})
	if err != nil {
		return nil, err
	}
	engine, err := NewEngine(settings, Options{})
	if err != nil {
		return nil, err
	}
	out := &Scores{Setting: setting, Systems: map[string]float64{}}
	reducer, systems := engine.Reducer(), engine.Systems()
	err = engine.Run(ctx, ds, func(s *SegmentScores) error {
		of := SegmentScore{ID: s.Segment.ID, Systems: map[string]float64{}, Status: map[string]metrics.Status{}}
		for h := range s.Segment.Hypotheses {
			r, err := reducer.Reduce(s, 0, h)
			if err != nil {
				return err
			}
			if r.Status != metrics.Scored {
				r.Value = math.NaN()
			}
			name := s.Segment.Hypotheses[h].System
			of.Systems[name], of.Status[name] = r.Value, r.Status
		}
		out.Segments = append(out.Segments, of)
		return systems.Add(s)
	})
	if err != nil {
		return nil, err
	}
	out.Totals = systems.Scores()
	for i := range out.Totals {
		total := &out.Totals[i]
		if out.Systems[total.System] = total.Value; !total.OK {
			out.Systems[total.System] = math.NaN()
		}
		if i == 0 {
			out.Signature = systems.Signature(total).String()
		}
	}
	return out, nil
}

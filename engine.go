package refract

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Setting is one way to score: a metric and an aggregator over references. The
// zero Aggregator asks for the matrix of cells alone. Metrics are compared with
// ==, so that settings can share one.
type Setting struct {
	Metric     metrics.Metric
	Aggregator aggregate.Aggregator
}

// AggregatorName is that of the aggregator, and "" for a metric that needs no
// references.
func (s Setting) AggregatorName() string {
	if !s.Metric.Info().NeedsReferences {
		return ""
	}
	return s.Aggregator.Name()
}

// String is what people call the setting, such as "bleu max".
func (s Setting) String() string {
	return strings.TrimSpace(s.Metric.Info().Name + " " + s.AggregatorName())
}

// Options say how an engine works. The zero value of an option is its default.
type Options struct {
	Scope   Scope            // of system scores
	Missing aggregate.Policy // for missing scores of references
	// AllowNoReferences gives segments without any reference cells with the
	// status MissingReference, in place of a *NoReferencesError.
	AllowNoReferences bool
	// EveryCell has every cell scored. Otherwise metrics that are no Preparer score
	// the first column only where no setting needs more: the scores are the same, but
	// how many references have none is then not known. A policy other than Exclude
	// needs every cell.
	EveryCell bool
	// ContinueWithoutMetrics keeps yielding segments after every metric has failed,
	// because the caller has scores from elsewhere.
	ContinueWithoutMetrics bool
	// Workers is how many calls of a metric run at a time, and Batch how many
	// segments a call has, for metrics without a metrics.Pace of their own;
	// default GOMAXPROCS and 16.
	Workers, Batch int
	// MaxText bounds the bytes of text that a segment has, default DefaultMaxText;
	// negative for no bound. N-grams take some hundred times as much memory.
	MaxText int
	// Store keeps the scores of metrics with metrics.KeepAlways, and StoreRest
	// those of all others, so that later runs of any settings and datasets ask
	// for what is new; nil keeps nothing, nor is anything kept of metrics that
	// are metrics.NeverKept, or metrics.KeepUnneeded unless StoreUnneeded is set. Where a setting pools statistics of its metric, that metric is computed
	// all the same. Warn, if not nil, is told of stored
	// scores that are damaged, and in a run of segments without a source and of what a
	// metrics.Remarker overlooks in the first segments.
	Store, StoreRest ScoreStore
	StoreUnneeded    bool
	Warn             func(message string)
	// Observe, if not nil, is told in a run how many segments more a metric has
	// scored. It is called from any number of goroutines.
	Observe func(m metrics.Metric, segments int)
}

// Engine scores every system against every reference of a dataset. It does not
// change once it is made, and is safe for concurrent use.
type Engine struct {
	options  Options
	settings []Setting
	metric   []int // of each setting: its index in needs
	pooled   []bool
	needs    []metricNeeds // of each metric once
}

// NewEngine returns an engine for all that the settings need. The error is
// about a setting that the scope does not allow.
func NewEngine(settings []Setting, o Options) (*Engine, error) {
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Batch < 1 {
		o.Batch = 16
	}
	if o.MaxText == 0 {
		o.MaxText = DefaultMaxText
	}
	o.EveryCell = o.EveryCell || o.Missing != aggregate.Exclude // every cell counts that might be missing
	e := &Engine{options: o, settings: slices.Clone(settings)}
	var err error
	if e.pooled, err = o.Scope.pools(settings); err != nil {
		return nil, err
	}
	for i, set := range settings {
		if f, ok := unfitted(set.Metric); ok {
			return nil, fmt.Errorf("%s is not fitted to the references of a dataset: see Fit", f.Info().Name)
		}
		k := slices.IndexFunc(e.needs, func(d metricNeeds) bool { return d.metric == set.Metric })
		if k < 0 {
			k = len(e.needs)
			e.needs = append(e.needs, metricNeeds{metric: set.Metric, info: set.Metric.Info(), index: k, all: o.EveryCell})
		}
		e.needs[k].add(set.Aggregator, e.pooled[i])
		e.metric = append(e.metric, k)
	}
	damage := o.damage()
	for k := range e.needs {
		e.needs[k].keep(&e.options, damage)
	}
	return e, nil
}

// DamagedScores is the warning of stored scores that are damaged.
const DamagedScores = "a stored score is damaged, or of another version: such scores are computed again"

// damage tells of damaged scores, once.
func (o *Options) damage() func() {
	warn := o.Warn
	return sync.OnceFunc(func() {
		if warn != nil {
			warn(DamagedScores)
		}
	})
}

// Settings are what the engine was made for.
func (e *Engine) Settings() []Setting { return slices.Clone(e.settings) }

// Metrics are those of the settings, each once, in their order.
func (e *Engine) Metrics() []metrics.Metric {
	out := make([]metrics.Metric, len(e.needs))
	for k := range e.needs {
		out[k] = e.needs[k].metric
	}
	return out
}

// Pools reports whether a setting's scores of systems are of pooled statistics.
func (e *Engine) Pools(setting int) bool { return e.pooled[setting] }

// SegmentScores holds all scores of one segment.
type SegmentScores struct {
	Segment *Segment
	Metrics []MetricScores // as Engine.Metrics orders them
}

// MetricScores holds the scores of one metric for one segment. Rows are the
// segment's hypotheses, missing ones included; columns are its references as
// AllReferences orders them, or a single column for a metric that needs none
// or a segment that has none. All slices are row-major.
type MetricScores struct {
	Columns int // at least 1
	// Values are in the metric's units, and meaningless where the status is
	// not Scored.
	Values []float64
	Status []metrics.Status
	// Native has one score per hypothesis, with a status. It is nil where
	// nothing of the segment could be scored.
	Native       []float64
	NativeStatus []metrics.Status
	// Stored is how many of the scores against single references a store had.
	Stored int
	// Reports explain the cells; nil where the metric explains nothing, of all
	// cells or of one.
	Reports []*analysis.Report
	// First and All have one row of statistics per hypothesis; rows of
	// hypotheses whose status is not Scored hold zeros.
	First, All []float64
}

// NoReferencesError says that a metric needs a reference and a segment has
// none.
type NoReferencesError struct {
	Metric, ID string
	Pos        Position
}

// Error says where the segment is and what to do.
func (e *NoReferencesError) Error() string {
	return fmt.Sprintf("%ssegment %q has no reference, which %s needs; add one, take the segment out, or let its scores be missing (--missing exclude)", e.Pos.prefix(), e.ID, e.Metric)
}

// NoSourceError says that a metric needs sources and no segment has one.
type NoSourceError struct{ Metric string }

// Error says what to do.
func (e *NoSourceError) Error() string {
	return fmt.Sprintf("no segment has a source, which %s needs; add the sources to the data, or leave the metric out", e.Metric)
}

// DefaultMaxText is how many bytes of text a segment has at most: 8 MiB.
const DefaultMaxText = 8 << 20

// TooLongError says that a segment has more text than is scored.
type TooLongError struct {
	ID         string
	Pos        Position
	Bytes, Max int
}

// Error says where the segment is and what to do.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("%ssegment %q has %.1f MiB of text, and %.1f are the most, as scoring takes some hundred times as much memory; take it out, or raise the bound (--max-text, Options.MaxText)",
		e.Pos.prefix(), e.ID, float64(e.Bytes)/(1<<20), float64(e.Max)/(1<<20))
}

// Score scores a batch of segments: the stage that Run applies to a stream. It
// depends on nothing but its arguments, and ends with the first metric that
// fails.
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
	for k := range e.needs {
		if _, err := e.needs[k].score(ctx, batch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

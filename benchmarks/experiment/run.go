package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/metrics"
)

// Runner runs experiments. Store, Open and Metric are needed.
type Runner struct {
	Store *Store
	// Open opens a dataset with its judgements and its expansions. Relative
	// paths are the caller's to resolve, with [Experiment.Path].
	Open func(d Dataset) (refract.Dataset, error)
	// Metric makes the metric of a spec.
	Metric  func(spec string) (metrics.Metric, error)
	Workers int // segments scored at a time; default GOMAXPROCS
	// Warn is told what is wrong but stops nothing, and Progress what is being
	// done; either may be nil.
	Warn, Progress func(message string)
}

// run is one run of a Runner.
type run struct {
	*Runner
	e         *Experiment
	metrics   []metrics.Metric
	usage     Usage
	estimates map[string]*estimate
	tests     map[string]*significance.Result
	notes     []string
	same      []same
	bootstrap map[int]*correlate.Bootstrap // by the number of resamples

	// of the dataset at hand
	scored  map[metrics.Metric][]refract.MetricScores
	natives []nativeScores
}

type nativeScores struct {
	metric metrics.Metric
	set    columnsOf
	scores []refract.MetricScores
}

func (r *run) warn(format string, args ...any) {
	if r.Warn != nil {
		r.Warn(fmt.Sprintf(format, args...))
	}
}

func (r *run) progress(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf(format, args...))
	}
}

// note adds a note, once.
func (r *run) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(r.notes, n) {
		r.notes = append(r.notes, n)
	}
}

// Run runs an experiment. The Result depends on the experiment, the data, the
// metrics and the program's version alone; the Usage says what the store saved.
// What was scored before an error is in the store.
func (rr *Runner) Run(ctx context.Context, e *Experiment) (*Result, Usage, error) {
	r := &run{Runner: rr, e: e, estimates: map[string]*estimate{}, tests: map[string]*significance.Result{}, bootstrap: map[int]*correlate.Bootstrap{}}
	res, err := r.run(ctx)
	return res, r.usage, err
}

func (r *run) run(ctx context.Context) (*Result, error) {
	seen := map[string]string{}
	for _, spec := range r.e.Metrics {
		m, err := r.Metric(spec)
		if err != nil {
			return nil, err
		}
		if other, twice := seen[m.Info().Name]; twice {
			return nil, fmt.Errorf("metrics %q and %q are the same", other, spec)
		}
		seen[m.Info().Name] = spec
		r.metrics = append(r.metrics, m)
	}
	res := &Result{
		Name: r.e.Name, Version: refract.Version, Confidence: r.e.Bootstrap.Confidence,
		Datasets: []DatasetInfo{}, Rows: []Row{}, Differences: []Difference{}, Curves: []CurveResult{},
		Prompts: []PromptAnalysis{}, Strata: []Stratum{}, Rankings: []Ranking{}, Verdicts: []Verdict{},
	}
	for _, s := range r.e.Statistics {
		res.Statistics = append(res.Statistics, s.Label())
	}
	p := &pool{}
	for _, entry := range r.e.Datasets {
		r.progress("reading %s", entry.Name)
		ds, err := r.Open(entry)
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", entry.Name, err)
		}
		d, err := load(ctx, entry, ds)
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", entry.Name, err)
		}
		for _, s := range r.e.Statistics {
			if _, _, err := s.Level.Groups(d.places); err != nil {
				return nil, fmt.Errorf("dataset %s: %s: %w", entry.Name, s.Label(), err)
			}
		}
		if err := r.dataset(ctx, d, res, p); err != nil {
			return nil, fmt.Errorf("dataset %s: %w", entry.Name, err)
		}
	}
	r.pooled(p, res)
	r.correct(res)
	r.method()
	res.Notes = r.notes
	res.Verdicts = r.verdicts(res)
	return res, nil
}

// dataset does all there is to do with one dataset.
func (r *run) dataset(ctx context.Context, d *data, res *Result, p *pool) error {
	r.scored, r.natives = map[metrics.Metric][]refract.MetricScores{}, nil
	res.Datasets = append(res.Datasets, d.info())
	settings, err := r.settings(ctx, d)
	if err != nil {
		return err
	}
	if err := r.rows(ctx, d, settings, res, p); err != nil {
		return err
	}
	pairs, err := r.pairs(settings)
	if err != nil {
		return err
	}
	if err := r.differences(ctx, d, pairs, res, p); err != nil {
		return err
	}
	if err := r.curves(ctx, d, res); err != nil {
		return err
	}
	if r.e.Prompts {
		if err := r.prompts(ctx, d, res); err != nil {
			return err
		}
	}
	if r.e.Strata {
		if err := r.strata(ctx, d, pairs, res); err != nil {
			return err
		}
	}
	if r.e.Ranking {
		res.Rankings = append(res.Rankings, rank(d, settings))
	}
	return nil
}

func (d *data) info() DatasetInfo {
	id := refract.NewIdentity()
	for _, s := range d.segments {
		id.Add(s)
	}
	out := DatasetInfo{
		Name: d.Name, Human: d.human, Segments: len(d.segments), Systems: d.systems.Systems,
		LeftOut: orEmpty(d.systems.Human), Unjudged: orEmpty(d.systems.Unjudged), Prompts: orEmpty(d.prompts), Set: id.Name(),
	}
	for _, ok := range d.gold.GoldOK {
		if ok {
			out.Cells++
		}
	}
	return out
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// cellsOnce is cells, which it keeps for the dataset at hand.
func (r *run) cellsOnce(ctx context.Context, d *data, m metrics.Metric) ([]refract.MetricScores, error) {
	if s, ok := r.scored[m]; ok {
		return s, nil
	}
	s, err := r.cells(ctx, d, m)
	if err == nil {
		r.scored[m] = s
	}
	return s, err
}

// keptNatives is how many native scorings are kept for the dataset at hand.
const keptNatives = 256

// nativeOnce is native, of which it keeps the first few.
func (r *run) nativeOnce(ctx context.Context, d *data, m metrics.Metric, set columnsOf) ([]refract.MetricScores, error) {
	for _, n := range r.natives {
		if n.metric == m && n.set.equal(set) {
			return n.scores, nil
		}
	}
	s, err := r.native(ctx, d, m, set)
	if err == nil && len(r.natives) < keptNatives {
		r.natives = append(r.natives, nativeScores{m, set, s})
	}
	return s, err
}

// about fills in what a number is about.
func (d *data) about(s Statistic) About {
	return About{Dataset: d.Name, Human: d.human, Statistic: s.Label(), Level: s.Level.String(), Group: s.Grouping.String()}
}

// rows takes all statistics of all settings.
func (r *run) rows(ctx context.Context, d *data, settings []*setting, res *Result, p *pool) error {
	for _, s := range settings {
		r.progress("%s: %s", d.Name, s.name)
		for _, st := range r.e.Statistics {
			est, err := r.estimate(ctx, s.table, st, r.e.Bootstrap.Resamples)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			ties, err := s.table.ties(st)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			judged, scored := s.table.judged()
			res.Rows = append(res.Rows, Row{
				About: d.about(st), Setting: s.name, MinReferences: s.table.minRefs, MaxReferences: s.table.maxRefs,
				Value: est.Value, Interval: r.interval(est.resamples), N: est.N, Missing: judged - scored, Systems: s.table.Systems,
				Groups: est.Groups, Dropped: est.Dropped, Ties: ties, Epsilon: est.Epsilon, Signature: s.signature,
			})
			p.add(d, s, st, est)
		}
	}
	return nil
}

// method notes how the numbers were made.
func (r *run) method() {
	b, t := r.e.Bootstrap, r.e.Test
	if b.Resamples > 0 {
		r.note("intervals: %g%% bootstrap over segments, %d resamples, seed %d; those of differences are paired", 100*b.Confidence, b.Resamples, b.Seed)
	}
	if t.Resamples > 0 {
		how := fmt.Sprintf("%d resamples, seed %d", t.Resamples, t.Seed)
		if t.Method == significance.MethodWilliams {
			how = "exact"
		}
		r.note("p-values: %s, one-sided in the direction seen, %s; corrected by Holm's method over the differences of a dataset and statistic", t.Method, how)
	}
	for _, s := range r.e.Statistics {
		if s.Measure.Statistic == correlate.StatAccuracy {
			r.note("accuracy: share of the pairs of systems that are ordered as by people, on means over the judged segments")
		}
	}
	r.note("significant: the interval of the difference is off 0 and the corrected p-value is below %.3g", 1-b.Confidence)
}

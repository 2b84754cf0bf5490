package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// Runner runs plans. Open and Metric are required.
type Runner struct {
	// Open opens a dataset with its judgements and expansions; nil means [Plan.OpenDataset].
	Open func(d Dataset) (refract.Dataset, error)
	// Metric makes the metric of a spec.
	Metric func(ctx context.Context, spec string) (metrics.Metric, error)
	// Options are for the engines that score: Workers and Batch, and a Scope other than
	// refract.Averaged if Scored needs statistics of a corpus.
	Options refract.Options
	// EveryCell also scores cells that no setting needs.
	EveryCell bool
	// ScoresAlone goes on without human scores; then nothing is compared.
	ScoresAlone bool
	// Scored is called with every segment and its scores by the engine's metrics, once and in
	// order; it may be nil.
	Scored func(dataset string, e *refract.Engine, s *refract.SegmentScores) error
	// Done is called when all segments of a dataset are scored, before they are compared; it may
	// be nil.
	Done func(DatasetInfo) error
	// Warn gets messages about problems that stop nothing, and Progress about the current
	// work; either may be nil.
	Warn, Progress func(message string)
}

// run is one run of a Runner.
type run struct {
	*Runner
	p         *Plan
	metrics   []metrics.Metric // the metrics that score
	estimates memo[estimate]
	tests     memo[significance.Result]
	matrices  memo[significance.Comparison]
	done      []significance.Task // finished tasks of the plan
	entrants  []SettingName       // their settings, by number
	notes     []string
	failed    refract.Incomplete // metrics that failed, over all datasets
	without   []Ended            // the same, for the result
	pace      *pace              // of the resamples of rows; nil while nothing is foreseen

	mu     sync.Mutex
	warned []string
}

func (r *run) warn(format string, args ...any) {
	if r.Warn != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		m := strings.TrimPrefix(fmt.Sprintf(format, args...), ": ") // a dataset may have no name
		if !slices.Contains(r.warned, m) {
			r.warned = append(r.warned, m)
			r.Warn(m)
		}
	}
}

// progress says what is done with something; a dataset may have no name.
func (r *run) progress(with, format string, args ...any) {
	if r.Progress == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if with = strings.TrimSpace(with); with != "" {
		text = with + ": " + text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Progress(text)
}

// note adds a note, once.
func (r *run) note(format string, args ...any) {
	n := strings.TrimPrefix(fmt.Sprintf(format, args...), ": ") // a dataset may have no name
	if !slices.Contains(r.notes, n) {
		r.notes = append(r.notes, n)
	}
}

// tell notes a text and warns of it, once.
func (r *run) tell(text string) {
	r.note("%s", text)
	r.warn("%s", text)
}

// parallel does n things on all cores.
func parallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return g.Wait()
}

// Run runs a plan. The Result depends only on the plan, the data, the metrics and the
// program's version. Scores computed before an error are in Options.Store. A [*PlanError] says
// that the plan asks for something impossible, a [*DataError] that a dataset lacks what it needs. With a [*refract.Incomplete], the Result covers
// the metrics that did not fail.
func (rr *Runner) Run(ctx context.Context, p *Plan) (*Result, error) {
	return (&run{Runner: rr, p: p}).run(ctx)
}

func (r *run) run(ctx context.Context) (*Result, error) {
	if field, err := r.p.check(); err != nil {
		return nil, planErrorf("%s: %w", field, err)
	}
	if err := r.makeMetrics(ctx); err != nil {
		return nil, err
	}
	res := &Result{
		Name: r.p.Name, Version: refract.Version, Confidence: r.p.Bootstrap.Confidence,
		Datasets: []DatasetInfo{}, Ended: []Ended{}, Same: []Same{}, Rows: []Row{}, Differences: []Difference{}, Curves: []CurveResult{},
		Prompts: []PromptAnalysis{}, Worths: []Worth{}, Rankings: []Ranking{}, Test: r.p.Test, TestNames: r.p.Test.describe(r.p.Statistics),
	}
	doubtful := map[string][]string{}
	for _, s := range r.p.Statistics {
		res.Statistics = append(res.Statistics, s.Label())
		if s.ofCells() {
			res.CellStatistics = append(res.CellStatistics, s.Label())
		}
		if level := s.Level.String() + "s"; s.Level != correlate.SegmentLevel && !slices.Contains(res.Means, level) {
			res.Means = append(res.Means, level)
		}
		if method, err := r.p.Test.of(s); r.p.Test.Resamples > 0 && err == nil {
			doubt := method.Doubt(s.Measure, s.Level)
			doubtful[doubt] = append(doubtful[doubt], s.Label())
		}
	}
	if n, least := r.p.Bootstrap.Resamples, int(math.Ceil(2/(1-r.p.Bootstrap.Confidence)))-1; n > 0 && n < least {
		r.warn("intervals of %s are no more than the range of what they gave, and bound nothing: take %d or more, such as 1000", english.Count(n, "resample"), least)
	}
	delete(doubtful, "")
	for _, doubt := range slices.Sorted(maps.Keys(doubtful)) {
		r.note("%v %s: p of %s can be far too small; auto holds", r.p.Test.Method, doubt, strings.Join(doubtful[doubt], ", "))
	}
	for k := 1; k < len(r.p.Datasets); k++ { // report faults in all datasets before scoring the first
		r.progress("", "checking %s", r.p.Datasets[k].Name)
		if _, err := r.load(ctx, r.p.Datasets[k], true); err != nil {
			return nil, r.inDataset(r.p.Datasets[k], &DataError{err})
		}
	}
	for _, entry := range r.p.Datasets {
		r.progress("", "reading %s", entry.Name)
		if err := r.dataset(ctx, entry, res); err != nil {
			return nil, r.inDataset(entry, err)
		}
	}
	r.standings(res)
	r.pooled(res)
	r.correct(res)
	r.method(res)
	res.Notes = r.notes
	if len(r.failed.Errs) == 0 {
		return res, nil
	}
	res.Ended = r.without
	return res, &r.failed
}

// ended records the metrics of a dataset that failed.
func (r *run) ended(d *data, failed *refract.Incomplete) {
	r.failed.Metrics, r.failed.Errs = append(r.failed.Metrics, failed.Metrics...), append(r.failed.Errs, failed.Errs...)
	reasons := failed.Reasons()
	for _, name := range failed.Metrics {
		r.without = append(r.without, Ended{d.Name, name, reasons[name]})
	}
}

// inDataset adds the dataset to an error.
func (r *run) inDataset(entry Dataset, err error) error {
	if r.p.Dir != "" || len(r.p.Datasets) > 1 {
		err = fmt.Errorf("dataset %s: %w", entry.Name, err)
	}
	return err
}

// makeMetrics makes the metrics that score.
func (r *run) makeMetrics(ctx context.Context) error {
	seen := map[string]string{}
	for _, spec := range r.p.Metrics {
		if _, stored := IsStored(spec); stored {
			continue
		}
		m, err := r.Metric(ctx, spec)
		if err != nil && r.p.hasScores(spec) {
			continue // it names a file, not a metric
		}
		if err != nil {
			return err
		}
		info := m.Info()
		if other, twice := seen[info.Name]; twice {
			return planErrorf("metrics %q and %q are the same, or programs that both call themselves %s: name one of them, as in exec:name=OTHER PROGRAM", redact.Text(other), redact.Text(spec), info.Name)
		}
		seen[info.Name] = spec
		if len(r.p.Sets) == 0 && !info.NeedsReferences && len(metrics.StartErrors([]metrics.Metric{m})) == 0 {
			return planErrorf("metric %s uses no references, so there is no curve", info.Name)
		}
		r.metrics = append(r.metrics, m)
		if s := (&series{metric: m, info: info}); r.p.Strict && info.NeedsReferences && !s.hasNative() && slices.ContainsFunc(r.p.Aggregators, aggregate.Aggregator.Native) {
			return s.noNative()
		}
	}
	errs := metrics.StartErrors(r.metrics)
	if alone := func(d Dataset) bool { return d.Matrix == "" && len(d.Scores) == 0 }; len(errs) > 0 && len(errs) == len(r.p.Metrics) && slices.ContainsFunc(r.p.Datasets, alone) {
		return errors.Join(errs...)
	}
	for _, err := range errs {
		r.warn("%v; the other metrics continue", err)
	}
	return nil
}

// bootstrap decides what resamples of a dataset draw.
func (r *run) bootstrap(d *data) (err error) {
	d.drawn, d.units, err = r.p.Bootstrap.UnitsOf(d.places)
	n := d.judgedUnits()
	if r.p.Bootstrap.By == "" && n < 2 && d.units != nil { // all judgements are of one document
		d.drawn, d.units = correlate.SegmentLevel.String(), nil
		n = d.judgedUnits()
	}
	d.unitsKey = keyOf(d.units)
	d.drawable = n
	for _, st := range r.p.Statistics {
		method, err := r.p.Test.of(st)
		switch least := d.leastP(r.p.Test, method); {
		case err != nil || r.p.Test.Resamples == 0:
		case least > 1-r.p.Bootstrap.Confidence:
			r.note("%s: the test exchanges whole %ss, and no p of %s is below %.2g", d.Name, d.drawn, english.Count(n, d.drawn), least)
		}
	}
	if len(d.systems) == 1 {
		r.note("%s: only one system, %q, has %s scores: a statistic that compares systems has no value", d.Name, d.systems[0], d.human)
	}
	const few = 10
	if n < few && r.p.Bootstrap.Resamples > 0 {
		r.note("%s: intervals from %s are rough: with fewer than %d they cover less than they say", d.Name, english.Count(n, d.drawn), few)
	}
	if r.p.Bootstrap.Resamples == 0 && !slices.ContainsFunc(r.p.Curves, func(c Curve) bool { return c.Resamples > 0 }) {
		d.drawn = ""
	}
	return err
}

// leastP is the smallest p-value that a test of so few units can have.
func (d *data) leastP(t Test, by significance.Method) float64 {
	switch {
	case by != significance.MethodRandomization:
		return 0
	case t.OneSided:
		return math.Exp2(-float64(d.drawable))
	}
	return math.Exp2(1 - float64(d.drawable))
}

// Drawn names what resamples of the datasets draw, such as "documents"; "" for nothing.
func (r *Result) Drawn() string {
	var names []string
	for _, d := range r.Datasets {
		if name := d.ResampledBy + "s"; d.ResampledBy != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// load reads a dataset and checks that it has what the plan asks for. A trial skips a
// dataset that can be read only once and returns nil for it.
func (r *run) load(ctx context.Context, entry Dataset, trial bool) (*data, error) {
	open := r.Open
	if open == nil {
		open = func(d Dataset) (refract.Dataset, error) { return r.p.OpenDataset(d, dataset.Options{}) }
	}
	ds, err := open(entry)
	if err != nil || trial && !dataset.Rereadable(ds) {
		return nil, err
	}
	d, err := load(ctx, entry, ds, r.ScoresAlone)
	if err != nil {
		return nil, err
	}
	levels := slices.Clone(r.p.Levels)
	for _, s := range r.p.Statistics {
		levels = append(levels, s.Level)
	}
	for i := range r.p.Tasks {
		if t := &r.p.Tasks[i]; t.Dataset == d.Name {
			levels = append(levels, t.Level)
			if err := d.hasDomain(t); err != nil {
				return nil, err
			}
		}
	}
	for _, level := range levels {
		if _, _, err := level.Groups(d.places); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// DataError says that a dataset cannot be read, or lacks what the plan needs.
type DataError struct{ Err error }

// Error returns the cause's message.
func (e *DataError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DataError) Unwrap() error { return e.Err }

// prepare reads a dataset and lists its settings.
func (r *run) prepare(ctx context.Context, entry Dataset) (*data, []*setting, error) {
	d, err := r.load(ctx, entry, false)
	if err != nil {
		return nil, nil, err
	}
	if silent := d.silent(); len(silent) > 0 {
		r.warn("%s: systems with %s scores and not one output: %s", d.Name, d.human, strings.Join(silent, ", "))
	}
	if err := r.bootstrap(d); err != nil {
		return nil, nil, err
	}
	if err := r.rate(ctx, d); err != nil {
		return nil, nil, err
	}
	if d.series, err = r.allSeries(ctx, d); err != nil {
		return nil, nil, err
	}
	settings, err := r.settings(d)
	return d, settings, err
}

// dataset does everything for one dataset.
func (r *run) dataset(ctx context.Context, entry Dataset, res *Result) error {
	d, settings, err := r.prepare(ctx, entry)
	if err != nil {
		return &DataError{err}
	}
	info, once := d.info(), r.mayStop(settings)
	if err := r.score(ctx, d, settings, once); err != nil {
		return err
	}
	if r.Done != nil {
		if err := r.Done(info); err != nil {
			return err
		}
	}
	left := func() { // settings of the metrics that have not failed
		settings = slices.DeleteFunc(settings, func(s *setting) bool { return !slices.Contains(d.series, s.series) })
	}
	left()
	res.Datasets = append(res.Datasets, info)
	if text := info.Chosen(); text != "" {
		r.note("%s: %s", d.Name, text)
	}
	if d.human == "" {
		return nil
	}
	if err := r.scoreNatives(ctx, d, settings); err != nil {
		return err
	}
	left()
	if err := r.order(ctx, d); err != nil {
		return err
	}
	native := func(c Curve) bool { return slices.ContainsFunc(c.Aggregators, aggregate.Aggregator.Native) }
	if !r.p.Prompts && !r.p.Worth && !slices.ContainsFunc(r.p.Curves, native) {
		d.read, d.segments = nil, nil // nothing below looks at texts
	}
	if err := r.fill(ctx, d, settings, res); err != nil {
		return err
	}
	for _, s := range d.series {
		if once {
			s.cells = nil
		}
	}
	pairs, err := r.pairs(d, settings)
	if err != nil {
		return err
	}
	settings = slices.DeleteFunc(settings, func(s *setting) bool { return s.as != nil })
	if r.p.Pairing == EveryPair {
		if res.Compared = comparedOf(pairs, settings); r.p.AcrossMetrics {
			res.Compared = nil
		}
		pairs = nil
	}
	compare := func(ctx context.Context, d *data, _ []*setting, res *Result) error {
		return r.differences(ctx, d, pairs, res)
	}
	for _, analysis := range []func(context.Context, *data, []*setting, *Result) error{
		r.ranks, r.tasks, r.rows, compare, r.curves, r.prompts, r.worths, r.labels, r.ranking,
	} {
		if err := analysis(ctx, d, settings, res); err != nil {
			return err
		}
	}
	return nil
}

// tellBelow notes scores of files that agree negatively with people.
func (r *run) tellBelow(d *data, res *Result) {
	for _, f := range d.Scores {
		rows, below := 0, 0
		for _, row := range res.Rows {
			if row.Dataset == d.Name && row.Setting.Metric == f.Name {
				if rows++; row.Value < 0 {
					below++
				}
			}
		}
		if rows > 0 && below == rows {
			r.note("%s: agreement is below 0: if lower scores are better, negate the scores in %s", f.Name, f.Path)
		}
	}
}

// tellTurned warns if every setting disagrees with people beyond chance.
func (r *run) tellTurned(d *data, res *Result) {
	for _, st := range r.p.Statistics {
		rows := slices.DeleteFunc(slices.Clone(res.Rows), func(row Row) bool {
			return row.Dataset != d.Name || row.Statistic != st.Label() || !row.Value.Defined()
		})
		against := func(row Row) bool { return row.Interval != nil && row.Interval.High < 0 }
		if len(rows) > 0 && !slices.ContainsFunc(rows, func(row Row) bool { return !against(row) }) {
			advice := "if lower scores of it are better, as counts of errors or ranks are, set --human-lower-is-better (in an experiment's file, human_lower_is_better: true in the dataset)"
			if d.HumanLowerIsBetter {
				advice = "if higher scores of it are better, leave human-lower-is-better out"
			}
			r.warn("%s: every setting agrees negatively with %s, beyond chance; %s", d.Name, d.human, advice)
			return
		}
	}
}

// mayStop reports whether cells may be left out: the only choices of references are the
// first one and all of them.
func (r *run) mayStop(settings []*setting) bool {
	return !r.EveryCell && len(r.p.Curves) == 0 && !r.p.Prompts && !r.p.Worth &&
		!slices.ContainsFunc(settings, func(s *setting) bool { return !s.whole && !s.single })
}

// about fills in what a number is about.
func (d *data) about(s Statistic) About {
	return About{Dataset: d.Name, Human: d.human, Statistic: s.Label(), Level: s.Level.String(), Group: s.Grouping.String(), Measure: s.Name()}
}

// rows computes all statistics of all settings.
func (r *run) rows(ctx context.Context, d *data, settings []*setting, res *Result) error {
	n := len(r.p.Statistics)
	estimates, ties := make([]*estimate, len(settings)*n), make([]Number, len(settings)*n)
	r.pace = &pace{begun: time.Now(), total: len(estimates) * r.p.Bootstrap.Resamples}
	err := parallel(ctx, len(estimates), func(ctx context.Context, i int) (err error) {
		s, st := settings[i/n], r.p.Statistics[i%n]
		if i%n == 0 {
			r.progress(d.Name, "agreement of %s", s.name)
		}
		if estimates[i], err = r.estimate(ctx, s.table, st, r.p.Bootstrap.Resamples); err == nil {
			ties[i], err = s.table.ties(st)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		return nil
	})
	r.pace = nil
	if err != nil {
		return err
	}
	beside, err := r.people(ctx, d, settings, res)
	if err != nil {
		return err
	}
	for i, est := range estimates {
		s, st := settings[i/n], r.p.Statistics[i%n]
		row := Row{
			About: d.about(st), Setting: s.name, MinReferences: s.table.minRefs, MaxReferences: s.table.maxRefs,
			Value: est.Value, Interval: r.interval(est.Resamples), N: est.N, Missing: s.table.missing(), Systems: s.table.Systems,
			Groups: est.Groups, Dropped: est.Dropped, Ties: ties[i], Epsilon: est.Epsilon, Signature: s.signature, People: beside[i],
			pools: st.Measure.Statistic == correlate.StatAccuracy, resamples: est.Resamples,
		}
		switch {
		case est.Own:
			if !slices.Contains(res.OwnSystems, s.name.Metric) {
				res.OwnSystems = append(res.OwnSystems, s.name.Metric)
			}
			r.note("%s at system level: the folder's own scores of systems, which are not the means of its segments; no interval", s.name.Metric)
		case est.Single:
			r.note("no interval of %s: all of its scores are of one %s, and a bootstrap needs several", s.name, d.drawn)
		case est.unsampled(r.p.Bootstrap.Resamples):
			r.note("no interval of %v: %v", st.Measure.Statistic, correlate.ErrTooManyPairs)
		}
		if est.Epsilon.Defined() {
			r.note("%s of %s: scores up to %.6g apart are tied", st.Label(), s.name, float64(est.Epsilon))
		}
		if r.p.Pairing == EveryPair {
			row.Rank = res.Ranks[len(res.Ranks)-n+i%n].Comparison.Ranks[i/n]
		}
		if st.Measure.Statistic == correlate.StatSoftAccuracy {
			if complete, of := s.table.Complete(); complete < of {
				r.note("%s: %v is of the %d of %s that have both scores of every system; leave out systems with few, or take accuracy", d.Name, st.Measure.Statistic, complete, english.Count(of, "segment"))
			}
		}
		if row.Interval != nil && row.Interval.Low <= 0 && st.Measure.Statistic == correlate.StatLabelsSaved {
			r.note("%s saves no labels beyond chance: the interval of labels-saved includes 0", s.name)
		}
		judged, scored := s.table.judged()
		row.Unscored = judged - scored
		res.Rows = append(res.Rows, row)
	}
	r.tellTurned(d, res)
	r.tellPeople(d, res)
	r.tellBelow(d, res)
	return nil
}

// method notes how the numbers were computed.
func (r *run) method(res *Result) {
	b, t := r.p.Bootstrap, r.p.Test
	if len(res.Means) > 0 {
		r.note("scores of %s are means of segments, also of metrics with a corpus score, which 'refract score' shows", strings.Join(res.Means, " and "))
	}
	if b.Resamples > 0 {
		of, paired := "", ""
		if l := r.p.Labels; l != nil && l.Always { // the intervals of means are no bootstrap
			of = "labels saved: "
		}
		if len(res.Differences)+len(res.Curves) > 0 {
			paired = "; paired for differences"
		}
		r.note("%sintervals: %g%% bootstrap over %s, %d resamples, seed %d%s", of, 100*b.Confidence, res.Drawn(), b.Resamples, b.Seed, paired)
	}
	if len(res.Differences) == 0 {
		return
	}
	if t.Resamples > 0 {
		how := fmt.Sprintf("%d resamples, seed %d", t.Resamples, t.Seed)
		if t.Method == significance.MethodWilliams {
			how = "exact"
		}
		r.note("p-values: %s, %s; corrected by Holm's method over the pairs of a metric under a statistic", t.describe(r.p.Statistics), how)
	}
	r.note("significant: the corrected p-value, if there is a test, is at most %.3g, and the interval excludes 0", 1-b.Confidence)
}

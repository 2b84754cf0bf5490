package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/neural"
)

// judgeFlags configure metrics that ask a model.
type judgeFlags struct {
	calls     callFlags
	model     string
	policy    judge.Policy
	maxText   int                      // MiB
	languages func() (from, to string) // codes of the dataset's; nil or "" if unknown
}

func (j *judgeFlags) register(cmd *cobra.Command) {
	flag := modelFlags.of(cmd)
	flag("judge-model", plain(&j.model, ""), "`MODEL` for judges that work with any", shown, fromConfig)
	flag("unparseable", valueOf(&j.policy, "exclude", judge.ParsePolicy), unparseableUsage(judge.PolicyNames()), offers(judge.PolicyNames()...))
	flag("max-text", plain(&j.maxText, refract.DefaultMaxText>>20), "MiB of text that a segment may have: scoring takes some hundred times as much memory", atLeast(1))
	j.calls.register(cmd, "answer")
}

func unparseableUsage(policies []string) string {
	return "what a judge's answer without a score counts as: " + strings.ReplaceAll(strings.Join(policies, ", "), "retry", "retry[:N]") + " or a number"
}

// judging is what the metrics of one run share; nil where nothing is scored.
// Nothing is opened before a metric needs it.
type judging struct {
	*judgeFlags
	e        *env
	metrics  []metrics.Metric // to close
	asker    *ask.Asker       // nil where no metric asks a model
	opening  sync.Once
	store    cache.Store // nil until it is needed
	endStore func()
	closed   error // why it cannot be opened
	prices   ask.Prices
	spend    *ask.Budget
	progress *report.Progress   // of calls
	working  *report.Progress   // of segments, where nothing is called; see work
	counted  string             // the metric whose segments it counts
	vectors  []*vectors         // of metrics that compare them
	refused  int                // texts that got no vector, and rows without a score
	refusal  sync.Once          // the warning of the first text
	reached  map[string]int     // segments that a metric has scored, by its name
	segments func() (int, bool) // of the dataset; nil if that is not known
	silent   bool               // without progress

	answers answered
	mu      sync.Mutex // of progress in scored, and refused
}

// run makes the shared state of a run. Close it.
func (j *judgeFlags) run(e *env) *judging {
	run := &judging{judgeFlags: j, e: e, reached: map[string]int{}}
	e.sourceless = func() bool {
		return !slices.ContainsFunc(run.metrics, func(m metrics.Metric) bool { return m.Info().NeedsSource })
	}
	return run
}

// all makes the metrics of all specs.
func (j *judging) all(ctx context.Context, s *settingFlags) ([]metrics.Metric, error) {
	ms, err := s.parse(func(spec string) (metrics.Metric, error) { return j.metric(ctx, spec) })
	if err != nil {
		return nil, err
	}
	errs := metrics.StartErrors(ms)
	if len(errs) == len(ms) {
		return nil, errors.Join(errs...)
	}
	for _, start := range errs {
		j.e.warn("%v; the other metrics continue", start)
	}
	return ms, nil
}

// metric makes the metric of a spec. One that cannot start ends during the run, like
// one that fails later.
func (j *judging) metric(ctx context.Context, spec string) (metrics.Metric, error) {
	all := j.e.registryWith(j, j.environment)
	name, _, _ := strings.Cut(spec, ":")
	if _, known := all.Find(name); !known {
		if err := j.e.unknownMetric(name); err != nil {
			return nil, usagef("%w", err)
		}
	}
	m, err := all.Parse(ctx, spec)
	if j.closed != nil {
		return nil, j.closed // not a fault of the spec
	}
	if start := (*metrics.StartError)(nil); errors.As(err, &start) && ctx.Err() == nil {
		return start.Metric(), nil
	}
	if err == nil {
		j.metrics = append(j.metrics, m)
	}
	return m, err
}

// environment is what judges need; it opens the cache and the client at the first judge.
func (j *judging) environment(ctx context.Context) (judge.Environment, error) {
	if err := j.open(ctx); err != nil {
		return judge.Environment{}, err
	}
	if j.progress == nil {
		j.progress = j.showProgress("judge", "answers")
	}
	from, to := "", ""
	if j.languages != nil {
		from, to = j.languages()
	}
	env := judge.Environment{Source: languageName(from), Target: languageName(to), Asker: j.asker, Model: j.model, Policy: j.policy, Observe: func(r ask.Result) { j.answers.add(j.progress, j.spend, r) }}
	env.Client = func(r *judge.Resolved, server string) (ask.Completer, error) {
		return j.calls.completer(j.e, r.Endpoint(), server)
	}
	return env, nil
}

// isJudge reports whether a name of a metric is that of a judge.
func isJudge(name string) bool {
	return name == judge.FileMetric || slices.Contains(judge.Names(), strings.TrimSuffix(name, judge.HardenedSuffix))
}

// languageName returns the English name of a language, "" if its code is not known.
func languageName(code string) string {
	tag, err := language.Parse(code)
	if err != nil {
		return ""
	}
	return display.English.Tags().Name(tag)
}

// showProgress starts the progress of the run, unless it is silent.
func (j *judging) showProgress(label, unit string) *report.Progress {
	if j.silent {
		return nil
	}
	return j.calls.watch(j.e.progress(label, unit))
}

// work returns the progress of the run's calls or, if there are none, of its segments, so that long
// work is seen to go on.
func (j *judging) work(label string) *report.Progress {
	if j.progress == nil && j.working == nil && !j.silent {
		j.working = j.e.progress(label, "segments").Brief()
		j.working.Watch(func() string { return "" })
	}
	return cmp.Or(j.progress, j.working)
}

// neural is what metrics on servers need.
func (j *judging) neural(context.Context) (neural.Environment, error) {
	switch {
	case j == nil:
		return neural.Environment{}, usagef("%s asks its server what it is: score with it", neural.Name)
	case j.calls.dryRun:
		return neural.Environment{}, usagef("--dry-run counts calls of models that have a price, and %s asks your own server: leave it out", neural.Name)
	case j.calls.offline:
		return neural.Environment{}, usagef("--offline: %s must ask its server what it is, even where its scores are stored", neural.Name)
	}
	if err := j.limit(); err != nil {
		return neural.Environment{}, err
	}
	return neural.Environment{
		Failed: j.tolerates, Client: j.calls.config(), Budget: j.spend, Key: j.e.getenv(neural.KeyVariable), Wait: j.calls.wait,
		Warn: func(err error) { j.e.warn("%v", err) },
	}, nil
}

// tolerates counts an input that a metric's server or program fails at, and reports whether that is tolerated.
func (j *judging) tolerates(error) bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refused++
	return j.refused <= j.calls.tolerate
}

// open opens, once, what metrics share that ask servers.
func (j *judging) open(ctx context.Context) error {
	if j.asker != nil {
		return nil
	}
	if err := j.limit(); err != nil {
		return err
	}
	var err error
	cfg := ask.Config{Concurrency: j.calls.atOnce(j.e), Tolerate: j.calls.tolerate, Budget: j.spend, LeftOut: func(what string, _ bool) { j.e.warn("%s; the signatures of its judges do not show that", what) }}
	cfg.OtherForm = func(model string, why error) {
		j.e.warn("model %s is asked without a schema for its answers, because the server refuses it: %v; the signatures of its judges do not show that", model, why)
	}
	if cfg.Client, err = j.calls.completer(j.e, llm.Chat, ""); err != nil {
		return err
	}
	if cfg.Store, err = j.sharedStore(ctx); err != nil {
		return err
	}
	j.asker = ask.New(cfg)
	return nil
}

// limit makes the budget of all calls, once.
func (j *judging) limit() (err error) {
	if j.spend == nil {
		if j.prices, err = j.calls.readPrices(); err == nil {
			j.spend = ask.NewBudget(j.calls.limits(), j.prices)
		}
	}
	return err
}

// sharedStore returns the cache, which the first call opens.
func (j *judging) sharedStore(ctx context.Context) (cache.Store, error) {
	j.opening.Do(func() { j.store, j.endStore, j.closed = j.calls.openStore(ctx, j.e) })
	return j.store, j.closed
}

// options are options of an engine: where scores are stored, and the limit on texts.
func (j *judging) options(o refract.Options) refract.Options {
	o.Store = storedScores{j}
	o.Warn = func(m string) { j.e.warn("%s", m) }
	o.Observe = j.scored
	o.MaxText = j.maxText << 20
	return o
}

// storedScores is the store of scores in the cache, opened at the first look.
type storedScores struct{ *judging }

func (s storedScores) Get(ctx context.Context, keys [][32]byte) ([][]byte, error) {
	opened, err := s.sharedStore(ctx)
	if err != nil {
		return nil, err
	}
	return cache.NewScores(opened).Get(ctx, keys)
}

func (s storedScores) Put(ctx context.Context, keys [][32]byte, values [][]byte) error {
	if !s.calls.calling() {
		return nil
	}
	opened, err := s.sharedStore(ctx)
	if err != nil {
		return err
	}
	return cache.NewScores(opened).Put(ctx, keys, values)
}

// scored counts the segments that metrics on servers and programs have scored; answers
// of judges are counted separately.
func (j *judging) scored(m metrics.Metric, segments int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reached[m.Info().Name] += segments
	switch m.(type) {
	case metrics.Preparer:
		p := j.work("score")
		if j.counted = cmp.Or(j.counted, m.Info().Name); p != j.progress && j.counted == m.Info().Name {
			p.Add(segments)
		}
		return
	case metrics.Foreseeing:
		return
	}
	if j.progress == nil {
		j.progress = j.showProgress("score", "segments")
	}
	if j.asker == nil { // with judges, their answers are counted instead
		j.progress.Add(segments)
	}
	j.progress.Count("segments by "+report.Visible(m.Info().Name), segments)
}

// mostUnparsed is the share of a judge's answers that may lack a score, unless
// --unparseable gives them a number.
const mostUnparsed = 0.05

// covered checks that enough of each judge's answers have a score.
func covered(t *audit.Trust, p judge.Policy) error {
	if _, counts := p.Counts(analysis.Unparseable); counts {
		return nil
	}
	if err := t.Covered(mostUnparsed); err != nil {
		return fmt.Errorf("%w; 'refract score --reports FILE' shows the raw answers, and --unparseable NUMBER counts instead of them", err)
	}
	return nil
}

// close closes the metrics and the cache.
func (j *judging) close() {
	if j == nil {
		return
	}
	if err := metrics.Close(j.metrics...); err != nil {
		j.e.warn("%v", err)
	}
	if j.store != nil {
		j.endStore()
	}
}

// answered ends the progress of the run.
func (j *judging) answered() {
	if j == nil {
		return
	}
	j.progress.Finish()
	j.working.Finish()
	for _, v := range j.vectors {
		v.progress.Finish()
	}
}

// done reports what was asked for, and how to continue a run that failed.
func (j *judging) done(ctx context.Context, err error) {
	if j == nil {
		return
	}
	if err != nil && !isUsage(err) && j.segments != nil {
		all, known := j.segments()
		for _, m := range j.metrics {
			if n := j.reached[m.Info().Name]; known && n < all && (n > 0 || j.asker != nil) {
				j.e.note("%s has scored %d of %s; left: %d", m.Info().Name, n, english.Count(all, "segment"), all-n)
			}
		}
	}
	if j.asker == nil {
		return
	}
	j.answers.note(j.e, " of judges")
	called := j.answers.called
	for _, v := range j.vectors {
		if asked := v.model.Asked(); asked+v.model.Stored() > 0 {
			j.e.note("vectors of %s: %d by calls, %d from the cache", v.model.Name, asked, v.model.Stored())
			called += asked
		}
	}
	if errors.Is(err, audit.ErrCoverage) {
		err = nil // asking again would give the same answers
	}
	j.calls.ended(ctx, j.e, j.spend.Spent(), called, err)
}

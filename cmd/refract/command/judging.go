package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/report"
)

// judgeFlags say how metrics that ask a model do so.
type judgeFlags struct {
	serverFlags
	spendFlags
	model       string
	cache       string
	offline     bool
	unparseable string
	maxUnparsed float64
	hardened    bool
	earlyStop   string
	tolerate    int
	dryRun      bool
}

func (j *judgeFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.model, "judge-model", "", "model that is asked by judges that work with any")
	f.StringVar(&j.cache, "cache", "refract-cache.sqlite", "file, or postgres:// address, that stores every answer of a judge")
	f.BoolVar(&j.offline, "offline", false, "make no call: every answer must be in the cache")
	grouped(cmd, modelFlags, "judge-model", "cache")
	f.StringVar(&j.unparseable, "unparseable", "exclude", "what a judge's answer without a score counts as: exclude, zero, worst, a number, retry[:N] or fail")
	complete(cmd, "unparseable", judge.PolicyNames()...)
	f.Float64Var(&j.maxUnparsed, "max-unparsed", 0.05, "share of a judge's answers that may lack a score before the run fails")
	f.BoolVar(&j.hardened, "hardened", false, "fence texts off as data in all judges' prompts: other metrics than the published ones")
	f.StringVar(&j.earlyStop, "early-stop", "auto", "auto: do not ask judges for references that cannot change a max or min; no: ask for all")
	complete(cmd, "early-stop", "auto", "no")
	grouped(cmd, metricFlags)
	f.IntVar(&j.tolerate, "tolerate", 100, "requests that may fail on their own account, such as too long prompts, before the run stops")
	grouped(cmd, modelFlags)
	j.serverFlags.register(cmd)
	j.spendFlags.register(cmd)
}

func (j *judgeFlags) registerDryRun(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&j.dryRun, "dry-run", false, "print the calls, tokens and cost that judges would still take, and make no call")
	grouped(cmd, budgetFlags, "dry-run")
}

// judging is what judges share in one run.
type judging struct {
	*judgeFlags
	e        *env
	asker    *ask.Asker
	store    store
	prices   budget.Prices
	spend    *budget.Budget
	progress *report.Progress
	clients  map[string]ask.Completer // by endpoint and server

	mu      sync.Mutex
	answers int
	failed  int // of them, that never came
	calls   int // answered by calls of this run
	stored  int // from the cache, or equal to another
}

// isJudge reports whether a spec names a metric that asks a model.
func isJudge(spec string) bool {
	name, _, _ := strings.Cut(spec, ":")
	return name == judgeFile || slices.Contains(judge.Names(), strings.TrimSuffix(name, judge.HardenedSuffix))
}

// judgeFile is the name before a definition's path in a spec.
const judgeFile = "judge-file"

// metricsOf makes the metrics of all specs, and what judges among them share,
// which is nil where there are none. Close it.
func (j *judgeFlags) metricsOf(ctx context.Context, e *env, s *settingFlags) ([]metrics.Metric, *judging, error) {
	run, err := j.openFor(ctx, e, s.metrics)
	if err != nil {
		return nil, nil, err
	}
	if run == nil {
		ms, err := s.parseMetrics()
		return ms, nil, err
	}
	ms, err := s.parse(run.metric)
	if err != nil {
		run.close()
		return nil, nil, err
	}
	return ms, run, nil
}

// openFor prepares what judges share, and nothing where no spec names one.
func (j *judgeFlags) openFor(ctx context.Context, e *env, specs []string) (*judging, error) {
	if !slices.ContainsFunc(specs, isJudge) {
		return nil, nil
	}
	switch {
	case !(j.maxUnparsed >= 0 && j.maxUnparsed <= 1): // NaN is neither
		return nil, usagef("--max-unparsed %v: want a share from 0 to 1", j.maxUnparsed)
	case j.earlyStop != "auto" && j.earlyStop != "no":
		return nil, usagef("--early-stop %q: want auto or no", j.earlyStop)
	case j.tolerate < 0:
		return nil, usagef("--tolerate %d: want 0 or more", j.tolerate)
	}
	prices, err := j.readPrices()
	if err != nil {
		return nil, err
	}
	run := &judging{judgeFlags: j, e: e, prices: prices, spend: budget.New(j.limits(), prices), clients: map[string]ask.Completer{}}
	cfg := ask.Config{Concurrency: j.calls(e), Tolerate: j.tolerate, Budget: run.spend}
	var mode []cache.Option
	if j.offline || j.dryRun {
		mode = append(mode, cache.ReadOnly())
	} else if cfg.Client, err = run.client(llm.Chat, ""); err != nil {
		return nil, err
	}
	if run.store, err = openStore(ctx, j.cache, j.dryRun, mode); err != nil {
		return nil, err
	}
	cfg.Store = run.store
	run.asker = ask.New(cfg)
	run.progress = e.progress("judge", 0, "answers")
	return run, nil
}

// client is who is asked at an endpoint of the servers, or of the one that is
// named.
func (j *judging) client(endpoint llm.Endpoint, server string) (ask.Completer, error) {
	key := string(endpoint) + " " + server
	if c, ok := j.clients[key]; ok {
		return c, nil
	}
	flags := j.serverFlags
	if server != "" {
		flags.baseURLs = []string{server}
	}
	c, err := flags.client(j.e, string(endpoint))
	if err != nil {
		return nil, err
	}
	j.clients[key] = &readyClient{Client: c, e: j.e, wait: j.wait}
	return j.clients[key], nil
}

// metric makes the metric of a spec.
func (j *judging) metric(spec string) (metrics.Metric, error) {
	policy, err := judge.ParsePolicy(j.unparseable)
	if err != nil {
		return nil, usagef("--unparseable: %w", err)
	}
	env := judge.Environment{Asker: j.asker, Model: j.model, Policy: policy, Hardened: j.hardened, Observe: j.observe}
	if !j.offline && !j.dryRun {
		env.Client = func(r *judge.Resolved, server string) (ask.Completer, error) { return j.client(r.Endpoint(), server) }
	}
	m, err := parseWithJudges(spec, env)
	if se := (*metrics.SpecError)(nil); errors.As(err, &se) {
		se.Spec = withoutPassword(se.Spec)
	}
	return m, err
}

// parseWithJudges makes the metric of a spec, which may be a judge.
func parseWithJudges(spec string, env judge.Environment) (metrics.Metric, error) {
	name, rest, hasOptions := strings.Cut(spec, ":")
	if base, ok := strings.CutSuffix(name, judge.HardenedSuffix); ok && isJudge(spec) {
		env.Hardened = true // the name of the metric is a spec of it
		if spec = base; hasOptions {
			spec += ":" + rest
		}
	}
	if name != judgeFile {
		return parseBuiltin(spec, env)
	}
	path, options, has := strings.Cut(rest, ",")
	d, err := readJudge(path)
	if err != nil {
		return nil, err
	}
	own := d.Name
	if has {
		own += ":" + options
	}
	m, err := metrics.Registry{d.Factory(env)}.Parse(own)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// parseBuiltin makes a metric that the program has. It reads the definition of
// the judge that is named, and of all judges where the name is unknown, for the
// error.
func parseBuiltin(spec string, env judge.Environment) (metrics.Metric, error) {
	reg := registry()
	name, _, _ := strings.Cut(spec, ":")
	if d, err := judge.Find(name); err == nil {
		reg = metrics.Registry{d.Factory(env)}
	} else if !slices.Contains(reg.Names(), name) {
		for _, d := range judge.Builtin() {
			reg = append(reg, d.Factory(env))
		}
	}
	return reg.Parse(spec)
}

// readJudge reads a definition, which may not take the name of another metric.
func readJudge(path string) (*judge.Definition, error) {
	if path == "" {
		return nil, usagef("--metric %s: name a file, such as %s:my-judge.yaml", judgeFile, judgeFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := judge.ParseDefinition(path, f)
	if err != nil {
		return nil, err
	}
	for _, name := range append(registry().Names(), judge.Names()...) {
		if d.Name == name {
			return nil, fmt.Errorf("%s: the name %q is that of a built-in metric; give the judge another one", path, d.Name)
		}
	}
	return d, nil
}

func (j *judging) observe(ev judge.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answers++
	if ev.Failed {
		j.failed++
		j.progress.Count("failed", 1)
	}
	if !ev.Called {
		j.stored++
		j.progress.AddCached(1)
		return
	}
	j.progress.Add(1)
	if ev.Failed {
		return
	}
	j.calls++
	j.progress.Count("tokens", ev.PromptTokens+ev.CompletionTokens)
	if s := j.spend.Spent(); s.Priced {
		j.progress.Note("cost", fmt.Sprintf("%.4f", s.Cost))
	}
}

// tune makes an engine fit for metrics on servers: one segment's calls stand
// next to each other, and there are enough of them at a time.
func (j *judging) tune(o *refract.Options) {
	if j == nil {
		return
	}
	o.Workers = 2
	o.Batch = min(max(16, j.serverFlags.calls(j.e)), 256)
}

// close ends the use of the cache.
func (j *judging) close() {
	if j != nil {
		j.store.Close()
	}
}

// answered ends the progress of the run.
func (j *judging) answered() {
	if j != nil && j.answers > 0 {
		j.progress.Finish()
	}
}

// done says what was asked for, and how an interrupted run goes on.
func (j *judging) done(ctx context.Context, err error) {
	if j == nil {
		return
	}
	if j.answers > 0 {
		failed := ""
		if j.failed > 0 {
			failed = fmt.Sprintf(", %d failed", j.failed)
		}
		j.e.note("%d answers of judges: %d by calls, %d from the cache or equal to others%s", j.answers, j.calls, j.stored, failed)
	}
	if s := j.spend.Spent(); s.Priced && s.Calls > 0 {
		j.e.note("the calls cost %.4f", s.Cost)
	}
	if covered := (*coverageError)(nil); errors.As(err, &covered) {
		return // it would come to the same
	}
	if err != nil && !errors.Is(err, ask.ErrNotStored) && (j.calls > 0 || ctx.Err() != nil) {
		j.e.note("%d answers of this run are stored in %s; this goes on from there:", j.calls, cache.Shown(j.cache))
		j.e.note("  %s", j.e.commandLine())
	}
}

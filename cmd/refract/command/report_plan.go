package command

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/evidence"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics"
)

// reportTests say what a report compares, and how.
type reportTests struct {
	statistics []string
	method     string
	resamples  int
	curves     []string
	analyses   []string
}

// analysisNames are what --analyses takes.
func analysisNames() []string { return []string{"ranking", "strata", "prompts"} }

// curveResamples bounds the resamples of a curve's intervals, as it has a
// table for each number of references.
const curveResamples = 200

func (t *reportTests) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&t.statistics, "statistic", []string{"kendall", "accuracy"}, statisticList+" (repeatable or comma-separated)")
	f.StringVar(&t.method, "significance", significance.MethodPermBoth.String(), strings.Join(significance.MethodNames(), ", ")+" or none: how settings are tested against the first")
	f.IntVar(&t.resamples, "resamples", 1000, "resamples of a test")
	f.StringSliceVar(&t.curves, "curve", []string{selection.ByOrder.String()}, "ways to choose 0, 1, … of the references for curves, or none: "+strings.Join(selection.MethodNames(), ", "))
	f.StringSliceVar(&t.analyses, "analyses", []string{"ranking", "strata"}, "ranking, strata, prompts or none: what else to look at")
	grouped(cmd, statisticFlags, "statistic", "significance")
	complete(cmd, "significance", append(significance.MethodNames(), "none")...)
	complete(cmd, "curve", append(selection.MethodNames(), "none")...)
	complete(cmd, "analyses", append(analysisNames(), "none")...)
}

func (t *reportTests) check() error {
	if t.method != "none" {
		if _, err := significance.ParseMethod(t.method); err != nil {
			return usagef("--significance: %w", err)
		}
	}
	if t.resamples < 1 {
		return usagef("--resamples %d: want 1 or more", t.resamples)
	}
	if !none(t.curves) {
		for _, name := range t.curves {
			if _, err := selection.ParseMethod(strings.TrimSpace(name)); err != nil {
				return usagef("--curve: %w", err)
			}
		}
	}
	if !none(t.analyses) {
		for _, name := range t.analyses {
			if !slices.Contains(analysisNames(), strings.TrimSpace(name)) {
				return usagef("--analyses: %s", suggest.Unknown("analysis", name, analysisNames()))
			}
		}
	}
	return nil
}

// none reports whether a list says that there is to be nothing.
func none(list []string) bool { return len(list) == 0 || len(list) == 1 && list[0] == "none" }

// plan is the experiment that a report on one dataset makes.
func (r *reporter) plan(name string, ms []metrics.Metric, aggs []aggregate.Aggregator, policy aggregate.Policy, measures []correlate.Measure, held *evidence.Held) (*experiment.Experiment, error) {
	p := &experiment.Experiment{
		Name:        name,
		Datasets:    []experiment.Dataset{{Name: name, Human: r.human, IncludeReferences: r.includeHuman, AllowNoReference: r.allowNone}},
		Sets:        []experiment.Set{{Name: string(experiment.KindAll), Kind: experiment.KindAll}},
		Aggregators: aggs,
		Missing:     policy,
		Bootstrap:   experiment.Bootstrap{Resamples: r.bootstrap, Confidence: r.confidence, Seed: r.seed},
		Prompts:     slices.Contains(r.analyses, "prompts"),
		Strata:      slices.Contains(r.analyses, "strata"),
		Ranking:     slices.Contains(r.analyses, "ranking"),
	}
	if held.Variants() {
		p.Sets = slices.Insert(p.Sets, 0, experiment.Set{Name: string(experiment.KindOriginal), Kind: experiment.KindOriginal})
	}
	for _, m := range ms {
		p.Metrics = append(p.Metrics, m.Info().Name)
	}
	for _, m := range measures {
		s := experiment.Statistic{Measure: m, Level: r.levelOf(m)}
		if slices.Contains(p.Statistics, s) {
			return nil, usagef("--statistic %s is given twice", m.Statistic)
		}
		p.Statistics = append(p.Statistics, s)
	}
	if r.method != "none" {
		method, err := significance.ParseMethod(r.method)
		if err != nil {
			return nil, err
		}
		p.Test = experiment.Test{Method: method, Resamples: r.resamples, Seed: r.seed}
	}
	if none(r.curves) {
		return p, nil
	}
	// A curve is of what combines several references, and scores no cell anew.
	combining := slices.DeleteFunc(slices.Clone(aggs), func(a aggregate.Aggregator) bool { return a.Single() || a.Native() })
	for _, by := range r.curves {
		if len(combining) == 0 {
			break
		}
		method, err := selection.ParseMethod(strings.TrimSpace(by))
		if err != nil {
			return nil, err
		}
		c := experiment.Curve{Method: method, Seeds: 1, Aggregators: combining, Resamples: min(r.bootstrap, curveResamples)}
		if method == selection.ByRandom {
			c.Seeds = 10
		}
		p.Curves = append(p.Curves, c)
	}
	return p, nil
}

// compare runs the experiment of a report on what was read and scored.
func (r *reporter) compare(ctx context.Context, e *env, plan *experiment.Experiment, ms []metrics.Metric, held *evidence.Held) (*experiment.Result, error) {
	dir := r.store
	if dir == "" {
		scratch, err := os.MkdirTemp("", "refract-report-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(scratch)
		dir = scratch
	}
	store, err := experiment.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	runner := &experiment.Runner{
		Store: store,
		Open:  func(experiment.Dataset) (refract.Dataset, error) { return held, nil },
		Metric: func(name string) (metrics.Metric, error) {
			for _, m := range ms {
				if m.Info().Name != name {
					continue
				}
				if _, ok := m.(metrics.Foreseeing); ok {
					return held.Replay(m), nil // every score of it is a call
				}
				return m, nil
			}
			return nil, fmt.Errorf("no metric %s", name)
		},
		Warn: func(m string) { e.warn("%s", m) },
	}
	res, _, err := runner.Run(ctx, plan)
	return res, err
}

// ofExperiment reports on an experiment.
func (r *reporter) ofExperiment(ctx context.Context, e *env) (*evidence.Report, error) {
	plan, err := r.readExperiment(ctx, e, r.experiment, r.store)
	if err != nil {
		return nil, err
	}
	defer plan.close()
	entry := plan.Datasets[0]
	if r.dataset != "" {
		var names []string
		for _, d := range plan.Datasets {
			names = append(names, d.Name)
		}
		at := slices.Index(names, r.dataset)
		if at < 0 {
			return nil, usagef("--dataset: %s", suggest.Unknown("dataset", r.dataset, names))
		}
		entry = plan.Datasets[at]
	}
	res, err := plan.run(ctx, e)
	if err != nil {
		return nil, err
	}
	rep := &evidence.Report{Title: r.titleOr(plan.Name), Result: res}
	if !r.explorer {
		return rep, nil
	}
	var ms []metrics.Metric
	for _, spec := range plan.Metrics {
		m, err := plan.metric(ctx, spec)
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	settings, err := cross(ms, plan.Aggregators, false, scoresNative)
	if err != nil {
		return nil, err
	}
	ds, err := plan.open(e, entry)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", entry.Name, err)
	}
	eng, err := refract.NewEngine(settings, refract.Options{AllowNoReferences: entry.AllowNoReference, Missing: plan.Missing})
	if err != nil {
		return nil, err
	}
	rep.Held = evidence.Hold(eng)
	if len(plan.Datasets) > 1 {
		rep.Shown = entry.Name
	}
	return rep, eng.Run(ctx, withSystems{ds}, rep.Held.Add)
}

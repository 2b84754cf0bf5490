package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/metrics"
)

// planRun executes a plan: it holds what the metrics share, and what judges report.
type planRun struct {
	experiment.Runner
	*experiment.Plan
	e       *env
	judging *judging
	file    string         // that the plan is from; "" where flags make it
	gather  *audit.Reports // what judges say; nil before the first segment
	spans   *audit.Spans   // compares their errors with people's; may be nil
	// also is called with every scored segment; may be nil.
	also func(dataset string, eng *refract.Engine, s *refract.SegmentScores) error
}

func (j *judging) planRun(p *experiment.Plan) *planRun {
	e := j.e
	r := &planRun{e: e, Plan: p, judging: j}
	r.Runner = experiment.Runner{
		Metric: r.judging.metric, Scored: r.scored, Options: refract.Options{Scope: refract.Averaged},
		Warn: func(m string) { e.warn("%s", m) },
	}
	return r
}

// planOf executes an experiment's file.
func (j *judgeFlags) planOf(e *env, path string) (*planRun, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plan, err := experiment.Parse(path, in)
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, inFile(err)
	}
	j.languages = func() (from, to string) { // a metric is made once, so judges know what all datasets say
		for i, d := range plan.Datasets {
			source, target := (&languageFlag{d.Language}).languages([]string{plan.Path(d.Spec)})
			if i > 0 && (source != from || target != to) {
				return "", ""
			}
			from, to = source, target
		}
		return from, to
	}
	r := j.run(e).planRun(plan)
	r.file = path
	e.paths.add(path, used(false, append(plan.Inputs(), path)...)...)
	from := func(spec string) string { // of files, from the experiment's folder
		return e.mapFiles(spec, func(path string, _ bool) string { return plan.File(path) })
	}
	for _, spec := range plan.Metrics {
		e.paths.add("--metric", e.metricFiles(from(spec))...)
	}
	if err := e.paths.check(); err != nil {
		return nil, err
	}
	r.Metric = func(ctx context.Context, spec string) (metrics.Metric, error) {
		return r.judging.metric(ctx, from(spec))
	}
	r.Open = func(d experiment.Dataset) (refract.Dataset, error) { return plan.OpenDataset(d, e.datasetOptions()) }
	return r, nil
}

func (r *planRun) scored(dataset string, eng *refract.Engine, s *refract.SegmentScores) error {
	if r.gather == nil {
		r.gather = audit.NewReports(eng.Metrics())
		r.gather.Spans = r.spans
	}
	if err := r.gather.Add(s, nil); err != nil || r.also == nil {
		return err
	}
	return r.also(dataset, eng, s)
}

// show executes a plan and shows its result and what judges report. It fails if too few
// of their answers have a score.
func (r *planRun) show(ctx context.Context, show func(*experiment.Result) error) (err error) {
	defer r.judging.close()
	defer func() { r.judging.done(ctx, err) }()
	r.e.collectAt(60) // what is alive is large and stays, so that collecting it often costs little
	r.Options = r.judging.options(r.Options)
	r.Progress = func(step string) {
		r.judging.mu.Lock()
		defer r.judging.mu.Unlock()
		p, step := r.judging.work("compare"), redact.Message(step)
		if r.file != "" {
			p.Println(step)
		}
		p.Note("", step)
	}
	res, err := r.Run(ctx, r.Plan)
	r.judging.answered()
	var failed *refract.Incomplete // some metrics failed; the others went on
	if err != nil && !errors.As(err, &failed) {
		if r.file != "" {
			err = inFile(fmt.Errorf("%s: %w", r.file, err))
		}
		return err
	}
	if err := show(res); err != nil {
		return err
	}
	if err := r.e.commit(); err != nil {
		return err
	}
	if r.gather != nil && r.also == nil { // otherwise the page shows it
		if err := audit.WriteTrust(r.e.noteWriter(), &r.gather.Trust); err != nil {
			return err
		}
	}
	if failed != nil || r.gather == nil {
		return err
	}
	return covered(&r.gather.Trust, r.judging.policy)
}

// inFile turns an error in a spec into an error of the file that has it, not of the
// command line.
func inFile(err error) error {
	if isUsage(err) {
		return errors.New(err.Error())
	}
	return err
}

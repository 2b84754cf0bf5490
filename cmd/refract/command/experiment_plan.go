package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// planned is an experiment that was read, with what it needs to run. Close it.
type planned struct {
	*experiment.Experiment
	path, store string
	judging     *judging
}

// readExperiment reads the file of an experiment. store is the folder for its
// cells; "" stands for FILE.cells beside it.
func (j *judgeFlags) readExperiment(ctx context.Context, e *env, path, store string) (*planned, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plan, err := experiment.Parse(path, in)
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, inFile(err)
	}
	if store == "" {
		store = strings.TrimSuffix(path, filepath.Ext(path)) + ".cells"
	}
	return &planned{Experiment: plan, path: path, store: store, judging: j.run(e)}, nil
}

func (p *planned) close() { p.judging.close() }

// metric makes a metric of the experiment. A judge's file is looked for from
// the experiment's folder.
func (p *planned) metric(ctx context.Context, spec string) (metrics.Metric, error) {
	if strings.HasPrefix(spec, judge.FileMetric+":") {
		spec = p.Path(spec)
	}
	return p.judging.metric(ctx, spec)
}

// run runs the experiment.
func (p *planned) run(ctx context.Context, e *env) (*experiment.Result, error) {
	store, err := experiment.OpenStore(p.store)
	if err != nil {
		return nil, err
	}
	runner := &experiment.Runner{
		Store:  store,
		Open:   func(d experiment.Dataset) (refract.Dataset, error) { return p.open(e, d) },
		Metric: func(spec string) (metrics.Metric, error) { return p.metric(ctx, spec) },
		Warn:   func(m string) { e.warn("%s", m) },
	}
	if !e.quiet {
		runner.Progress = func(m string) { e.note("%s", m) }
	}
	res, usage, err := runner.Run(ctx, p.Experiment)
	p.judging.answered()
	p.judging.done(ctx, err)
	if err != nil {
		return nil, inFile(fmt.Errorf("%s: %w", p.path, err))
	}
	e.note("%s (%s)", usage, p.store)
	return res, nil
}

// open opens a dataset of the experiment as the other commands do.
func (p *planned) open(e *env, d experiment.Dataset) (refract.Dataset, error) {
	in := input{reference: d.References}
	for _, spec := range d.Expansions {
		in.references = append(in.references, p.Path(spec))
	}
	return in.dataset(e, []string{p.Path(d.Spec)}, true)
}

// inFile makes a fault of a spec one of the file that has it, and not of the
// command line.
func inFile(err error) error {
	if isUsage(err) {
		return errors.New(err.Error())
	}
	return err
}

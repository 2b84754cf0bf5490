package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/cmd/refract/internal/build"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// buildRun is one run of refract build.
type buildRun struct {
	calls   callFlags
	dir     string
	set     build.Set
	formats output // of tables on standard output
	plan    *build.Plan

	rates    ask.Prices
	spend    *ask.Budget
	to       *files.Folder // nil for a dry run
	progress *report.Progress
	answers  answered
	written  bool // the folder is complete: there is nothing to continue
}

func (e *env) buildCommand() *cobra.Command {
	b := &buildRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "build PLAN.yaml",
		Short: "Make data that judges are trained on",
		Long: `Make data that judges are trained on, by the recipe of a published metric.

docs/how-to/building.md describes PLAN.yaml and the folder that -o writes.
Answers are stored: the same command continues where a run stopped.`,
		Example: `  refract build plan.yaml --model gpt-4o --prices prices.yaml --dry-run
  refract build plan.yaml --model gpt-4o -o data`,
	}, cobra.ExactArgs(1), b.run)
	taskFlags.of(cmd)("seed", plain(&b.set.Seed, defaultSeed), "seed of all that is drawn", shown)
	flag := resultFlags.of(cmd)
	flag("output,o", plain(&b.dir, ""), "`DIR` to write, which must be new or empty", shown, names(writesFile))
	flag("license", valueOf(&b.set.License, "", publish.License), "license of the data, for its card, as the Hub names it, such as cc-by-4.0", shown)
	b.formats.registerFormat(cmd, "how tables are printed: ", "")
	flag = modelFlags.of(cmd)
	flag("model", plain(&b.set.Teacher.Name, ""), "`MODEL` to ask", required("name the model to ask"), shown, fromConfig)
	flag("revision", plain(&b.set.Teacher.Revision, ""), "revision of the model's weights, recorded with every answer")
	b.calls.register(cmd, "answer", shown)
	b.calls.registerDryRun(cmd, "make no call")
	return cmd
}

func (b *buildRun) run(ctx context.Context, e *env, args []string) error {
	in, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	if b.plan, err = build.ReadPlan(args[0], in); err != nil {
		return err
	}
	if b.set.Recipe, err = build.LoadRecipe(b.plan.Recipe, b.plan.Files); err != nil {
		return usagef("%w", err)
	}
	if b.dir == "" && !b.calls.dryRun {
		return usagef("-o is missing: name the folder to write")
	}
	b.set.Validation = b.plan.Validation
	end, err := b.open(ctx, e)
	if err != nil {
		return err
	}
	defer end()
	switch b.plan.Recipe {
	case build.InstructScore:
		err = b.designate(ctx, e)
	case build.MetricInstruct:
		err = b.mix(ctx, e)
	default:
		err = b.refine(ctx, e)
	}
	if err == nil {
		err = b.finish(e)
	}
	if !b.calls.dryRun {
		b.progress.Finish()
		b.answers.note(e, "")
	}
	failed := err
	if b.written {
		failed = nil
	}
	b.calls.ended(ctx, e, b.spend.Spent(), b.answers.called, failed)
	return err
}

// open makes the folder, and opens the cache and the client.
func (b *buildRun) open(ctx context.Context, e *env) (end func(), err error) {
	if b.rates, err = b.calls.readPrices(b.set.Teacher.Name); err != nil {
		return nil, err
	}
	if !b.calls.dryRun { // before any call is paid for: a folder that is not empty is refused
		if b.to, err = e.createFolder(b.dir); err != nil {
			return nil, err
		}
		b.progress = b.calls.watch(e.progress("ask", "answers"))
	}
	b.spend = ask.NewBudget(b.calls.limits(), b.rates)
	cfg := ask.Config{Concurrency: b.calls.atOnce(e), Tolerate: b.calls.tolerate, Budget: b.spend, LeftOut: e.leftOut}
	if cfg.Client, err = b.calls.completer(e, llm.Chat, ""); err != nil {
		return nil, err
	}
	if cfg.Store, end, err = b.calls.openStore(ctx, e); err != nil {
		return nil, err
	}
	b.set.Asker, b.set.DryRun = ask.New(cfg), b.calls.dryRun
	b.set.Observe = func(r ask.Result) { b.answers.add(b.progress, b.spend, r) }
	return end, nil
}

// finish writes the folder and shows the counts; a dry run shows the forecast.
func (b *buildRun) finish(e *env) error {
	if b.calls.dryRun {
		return b.foresee(e)
	}
	sum, err := b.set.Write(b.to)
	if err != nil {
		return err
	}
	if b.set.License == "" {
		e.note("the card has no license: add one to %s, or give --license", filepath.Join(b.dir, "README.md"))
	}
	if sum.Examples > 0 && sum.Validation == 0 && b.set.Validation > 0 {
		e.warn("validation is empty: there are few source texts, and the draw put none there")
	}
	if err := b.formats.show(e, sum.Table()); err != nil {
		return err
	}
	b.written = true
	if sum.Examples == 0 {
		return fmt.Errorf("none of %s became an example; %s says which rule left each out", english.Count(sum.Items, "item"), filepath.Join(b.dir, "items.jsonl"))
	}
	return nil
}

// foresee prints how many calls the steps would make.
func (b *buildRun) foresee(e *env) error {
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{
		textColumn("step"), countColumn("stored"), countColumn("calls"), countColumn("unknown"),
		countColumn("prompt tokens"), countColumn("most completion tokens"), textColumn("most cost"),
	}}
	t.Note("unknown: the most conversations that answers still to come may lead to; their tokens are not counted.")
	for _, s := range b.set.Steps {
		price, priced := b.rates[s.Model]
		cost := fixed(price.Cost(s.Ahead.PromptTokens, s.Ahead.MostCompletionTokens))
		if !priced {
			cost = report.Null()
		}
		if !priced && b.rates != nil {
			e.note("the cost of the step %s is unknown: --prices has no price of %s", s.Name, s.Model)
		}
		t.Add(s.Name, s.Ahead.Stored, s.Ahead.Needed, s.Unknown, s.Ahead.PromptTokens, s.Ahead.MostCompletionTokens, cost)
	}
	return b.formats.onScreen().show(e, t)
}

// segments reads a dataset, records it as an input, and reports what it leaves out:
// references scored as systems, and segments without a reference or a needed source.
func (b *buildRun) segments(ctx context.Context, e *env, spec string, needsSource, mayBeEmpty bool) ([]*refract.Segment, error) {
	ds, err := (&input{}).dataset(e, []string{spec}, false)
	if err != nil {
		return nil, err
	}
	id := refract.NewIdentity()
	var kept []*refract.Segment
	people, lacking := 0, 0
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		id.Add(s)
		if !slices.ContainsFunc(s.References, func(t refract.Text) bool { return t.Valid && (mayBeEmpty || t.Value != "") }) || needsSource && strings.TrimSpace(s.Source.Value) == "" {
			lacking++
			continue
		}
		own := *s
		own.Hypotheses = slices.DeleteFunc(slices.Clone(s.Hypotheses), func(h refract.Hypothesis) bool {
			if h.Human && h.Text.Valid {
				people++
			}
			return h.Human
		})
		kept = append(kept, &own)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(kept)+lacking == 0:
		return nil, dataset.ErrEmpty
	}
	e.warnOf(lacking, "%s: segments without a reference, or a source that is needed", spec)
	if in := (build.Input{Spec: spec, Set: id.Hash()}); !slices.Contains(b.set.Inputs, in) {
		b.set.Inputs = append(b.set.Inputs, in)
		if people > 0 {
			said := fmt.Sprintf("%s: left out as references scored as systems: %s", spec, english.Count(people, "text"))
			b.set.Notes = append(b.set.Notes, said+".")
			e.note("%s", said)
		}
	}
	return kept, nil
}

// designate makes examples for InstructScore.
func (b *buildRun) designate(ctx context.Context, e *env) error {
	task, err := b.set.Recipe.Task(b.plan.Task)
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	if task.Language != "" {
		d := language.New(language.Config{Language: task.Language})
		if b.set.Language, err = check.New(check.Config{Checks: []string{check.ReasonLanguage}, Detector: d}); err != nil {
			return err
		}
	}
	segments, err := b.segments(ctx, e, b.plan.Dataset, task.NeedsSource, false)
	if err != nil {
		return err
	}
	return b.set.Designated(ctx, task, segments, b.plan.Items)
}

// mix makes examples for TIGERScore, row by row.
func (b *buildRun) mix(ctx context.Context, e *env) error {
	for i, row := range b.plan.Mix {
		if n := b.plan.Items; n > 0 {
			row.Real, row.Synthetic = min(row.Real, n), min(row.Synthetic, n)
		}
		if err := b.set.Resolve(row); err != nil {
			return fmt.Errorf("mix[%d]: %w", i, err)
		}
	}
	for _, row := range b.plan.Mix {
		segments, err := b.segments(ctx, e, row.Dataset, true, false)
		var drawn []build.Output
		if err == nil && row.Real > 0 {
			drawn, err = b.scored(ctx, e, row, segments)
		}
		if err == nil && row.Real > 0 {
			err = b.set.Real(ctx, row, drawn)
		}
		if err == nil && row.Synthetic > 0 {
			err = b.set.Synthetic(ctx, row, segments)
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", row.Dataset, row.Task, err)
		}
		if len(drawn) < row.Real || len(segments) < row.Synthetic {
			e.warn("%s: fewer could be drawn than the plan asks for: %s, %s", row.Dataset, english.Count(len(drawn), "output"), english.Count(min(len(segments), row.Synthetic), "reference"))
		}
	}
	return nil
}

// scored draws outputs of all systems by the thirds of their scores against the first
// reference; higher is better.
func (b *buildRun) scored(ctx context.Context, e *env, row *build.MixRow, segments []*refract.Segment) ([]build.Output, error) {
	run := (&judgeFlags{calls: b.calls, maxText: refract.DefaultMaxText >> 20}).run(e)
	run.spend, run.prices = b.spend, b.rates
	defer run.close()
	m, err := run.metric(ctx, row.Metric)
	if err != nil {
		return nil, err
	}
	ds := refract.InMemory(segments)
	eng, err := (&scoring{}).engine(ctx, ds, []refract.Setting{{Metric: m, Aggregator: aggregate.Single}}, false, run.options(refract.Options{}))
	if err != nil {
		return nil, err
	}
	var out []build.Output
	lacking := 0
	err = eng.Run(ctx, ds, func(s *refract.SegmentScores) error {
		scores := &s.Metrics[0]
		for h, hyp := range s.Segment.Hypotheses {
			i := h * scores.Columns
			if scores.Status[i] != metrics.Scored {
				lacking++
				continue
			}
			out = append(out, build.Output{
				Segment: s.Segment, System: hyp.System, Text: hyp.Text.Value, Score: float64(m.Info().Direction) * scores.Values[i],
			})
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = dataset.ErrNoSystems
	}
	e.warnOf(lacking, "outputs without a score, which are not drawn")
	return build.Thirds(b.set.Seed, row, out), err
}

// refine keeps the best of several reports of a judge.
func (b *buildRun) refine(ctx context.Context, e *env) error {
	r := build.Refinement{Samples: b.plan.Samples, Least: b.plan.Least}
	env := judge.Environment{Asker: b.set.Asker}
	env.Client = func(resolved *judge.Resolved, server string) (ask.Completer, error) {
		c, err := b.calls.completer(e, resolved.Endpoint(), server)
		r.Student.Client = c
		return c, err
	}
	m, err := judge.Registry(func(context.Context) (judge.Environment, error) { return env, nil }, e.registry().Names()...).Parse(ctx, b.plan.Judge)
	if err != nil {
		return err
	}
	j := m.(*judge.Judge)
	if !build.CanRefine(j.Resolved()) {
		return usagef("the judge %s cannot be refined: examples have a prompt of one message, and a report", b.plan.Judge)
	}
	if j.Samples() > 1 {
		return usagef("the judge %s: leave out its option samples; samples in the plan says how many reports are asked for", b.plan.Judge)
	}
	r.Judge, r.Student.Name, r.Student.Endpoint = j.Resolved(), j.Model(), j.Resolved().Endpoint()
	segments, err := b.segments(ctx, e, b.plan.Dataset, r.Judge.NeedsSource(), true)
	if err != nil {
		return err
	}
	outputs := build.Outputs(b.set.Seed, segments, b.plan.AllSystems, b.plan.Items)
	if len(outputs) == 0 {
		return fmt.Errorf("%s has no output of a system to judge", b.plan.Dataset)
	}
	b.set.Metric = r.Judge.Name()
	b.set.Notes = append(b.set.Notes,
		"The completions were written by the model "+r.Student.Name+", "+english.Count(r.Samples, "sample")+" of each output; the model above said what is wrong with them.")
	return b.set.Refine(ctx, r, outputs)
}

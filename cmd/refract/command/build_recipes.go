package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/internal/build"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// designing is one run of refract build instructscore.
type designing struct {
	builder
	name string
	task *build.Task
}

func (x *designing) command(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   build.InstructScore + " DATASET",
		Short: "Reports on outputs whose errors were designated",
		Long: `Make examples for InstructScore, by the prompts of its paper (tables 28 to 33).
Of each first reference of the DATASET a model makes a paraphrase, which is the
reference, and an output with 1 to 5 errors whose types and severities are drawn,
with an explanation of each.`,
		Example: `  refract build instructscore jsonl:data.jsonl --task mt_zh-en --model gpt-4o --dry-run
  refract build instructscore jsonl:webnlg.jsonl --task d2t --model gpt-4o --items 1000 -o data`,
	}
	f := cmd.Flags()
	f.StringVar(&x.name, "task", "", "task of the metric: mt_zh-en, mt_en-de, mt_en-ru, mt_en-es, caption, d2t, keyword-to-text or commonsense")
	grouped(cmd, taskFlags, "task")
	x.register(cmd, e, build.InstructScore, x.check, x.run)
	return cmd
}

func (x *designing) check(args []string) (err error) {
	if x.task, err = x.set.Recipe.Task(x.name); err != nil {
		return usagef("--task: %w", err)
	}
	if len(args) == 0 {
		return usagef("DATASET is missing: name the correct texts, which are its references")
	}
	return nil
}

func (x *designing) run(ctx context.Context, e *env, args []string) (err error) {
	if code := x.task.Language; code != "" {
		d := language.New(language.Config{Language: code})
		if x.set.Language, err = check.New(check.Config{Checks: []string{check.ReasonLanguage}, Detector: d}); err != nil {
			return err
		}
	}
	segments, err := x.segments(ctx, e, args[0], x.task.NeedsSource, false)
	if err != nil {
		return err
	}
	texts := x.set.TextsOf(segments, x.items)
	if len(texts) == 0 {
		return errors.New("no text: the dataset has no reference that can be used")
	}
	return x.set.Designated(ctx, x.task, texts)
}

// mixing is one run of refract build metricinstruct.
type mixing struct{ builder }

func (x *mixing) command(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   build.MetricInstruct + " [MIX.yaml]",
		Short: "Reports without a reference, of real and synthetic outputs",
		Long: `Make examples for TIGERScore, by section 3 of its paper, of two channels.
real: outputs of the systems of a dataset, drawn by the thirds of any metric's
scores, are analysed in the two turns of the judge xgptscore. synthetic:
references are changed into outputs with errors of aspects that are drawn, and
the errors are described. Rules then leave items out, each with a count
(docs/building.md).

MIX.yaml says what is made, in a row for each dataset and task:

  mix:
    - dataset: mtme:data/wmt22/zh-en
      task: translation
      options: {sl: Chinese, tl: English}
      metric: chrf              # splits the outputs into thirds
      real: 300
      shares: [1, 1, 2]         # of the best, the middle and the worst third
      synthetic: 100

--items bounds each channel of a row.`,
		Example: `  refract build metricinstruct mix.yaml --model gpt-4o --prices prices.yaml --dry-run
  refract build metricinstruct mix.yaml --model gpt-4o -o data`,
	}
	x.register(cmd, e, build.MetricInstruct, x.check, x.run)
	return cmd
}

func (x *mixing) check(args []string) error {
	if len(args) == 0 {
		return usagef("MIX.yaml is missing: name the file that says which items are made")
	}
	return nil
}

func (x *mixing) run(ctx context.Context, e *env, args []string) error {
	in, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	mix, err := build.ReadMix(args[0], in)
	if err != nil {
		return err
	}
	for i, row := range mix.Rows {
		if x.items > 0 {
			row.Real, row.Synthetic = min(row.Real, x.items), min(row.Synthetic, x.items)
		}
		if err := x.set.Check(row); err != nil {
			return fmt.Errorf("%s: mix[%d]: %w", args[0], i, err)
		}
	}
	for _, row := range mix.Rows {
		if err := x.row(ctx, e, row); err != nil {
			return fmt.Errorf("%s, %s: %w", row.Dataset, row.Task, err)
		}
	}
	return nil
}

// row makes the items of a row.
func (x *mixing) row(ctx context.Context, e *env, row *build.MixRow) error {
	segments, err := x.segments(ctx, e, row.Dataset, true, false)
	if err != nil {
		return err
	}
	if row.Real > 0 {
		outputs, err := x.scored(ctx, e, row.Metric, segments)
		if err != nil {
			return err
		}
		drawn := build.Thirds(x.set.Seed, row, outputs)
		if len(drawn) < row.Real {
			e.warn("%s: %d outputs were to be drawn, and the thirds have %d of them", row.Dataset, row.Real, len(drawn))
		}
		if err := x.set.Real(ctx, row, drawn); err != nil {
			return err
		}
	}
	if row.Synthetic == 0 {
		return nil
	}
	if len(segments) < row.Synthetic {
		e.warn("%s: %d references were to be drawn, and there are %d", row.Dataset, row.Synthetic, len(segments))
	}
	return x.set.Synthetic(ctx, row, segments)
}

// scored returns the outputs of all systems with their scores against the first
// reference; higher is better.
func (x *mixing) scored(ctx context.Context, e *env, spec string, segments []*refract.Segment) ([]build.Output, error) {
	scoring := &judgeFlags{callFlags: x.callFlags, storeScores: "auto", maxText: refract.DefaultMaxText >> 20}
	run := scoring.run(e)
	run.spend, run.prices, run.silent = x.spend, x.rates, true
	defer run.close()
	m, err := run.metric(ctx, spec)
	if err != nil {
		return nil, err
	}
	ds := dataset.InMemory(segments)
	settings, err := refract.Fit(ctx, ds, []refract.Setting{{Metric: m, Aggregator: aggregate.Must("single")}})
	if err != nil {
		return nil, err
	}
	eng, err := refract.NewEngine(settings, run.options(refract.Options{}))
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
	if lacking > 0 {
		e.warn("outputs without a score, which are not drawn: %d", lacking)
	}
	return out, err
}

// refining is one run of refract build refine.
type refining struct {
	builder
	metric  string
	systems string
	plan    build.Refinement
}

// Values of --systems.
const (
	oneSystem  = "one"
	allSystems = "all"
)

func (x *refining) command(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   build.Refine + " [DATASET]",
		Short: "Keep the best of several reports of a judge",
		Long: `A judge writes several reports of each output of a system; another model is asked
what is wrong with each, and those of the highest alignment are examples to train
the judge on (sections 4.2 and 4.3 of InstructScore's paper).

-m is a judge that scores in one turn. Its model is asked at --base-url, or at
the server that its option base-url names, and the model for the feedback,
--model, at --base-url.`,
		Example: `  refract build refine jsonl:data.jsonl -m instructscore:task=mt_zh-en,base-url=http://localhost:8000/v1 --model gpt-4o --dry-run
  refract build refine jsonl:data.jsonl -m instructscore:task=mt_zh-en --model gpt-4o -o refined`,
	}
	f := cmd.Flags()
	f.StringVarP(&x.metric, "metric", "m", "", "judge whose reports are refined")
	f.IntVar(&x.plan.Samples, "samples", 8, "reports of each output")
	f.Float64Var(&x.plan.Least, "least", 0, "least alignment of a report that is kept")
	f.StringVar(&x.systems, "systems", oneSystem, "one: a system of each segment, drawn by the seed; all: each")
	oneOf(cmd, "systems", oneSystem, allSystems)
	atLeast(cmd, 2, "samples")
	inRange(cmd, "a number from 0 to 1", func(v float64) bool { return v >= 0 && v <= 1 }, "least")
	grouped(cmd, taskFlags, "metric", "samples", "systems")
	x.register(cmd, e, build.Refine, x.check, x.run)
	return cmd
}

func (x *refining) check(args []string) error {
	switch {
	case x.metric == "":
		return usagef("-m is missing: name the judge, such as -m instructscore:task=mt_zh-en")
	case len(args) == 0:
		return usagef("DATASET is missing: name the outputs of systems that are judged")
	}
	return nil
}

func (x *refining) run(ctx context.Context, e *env, args []string) error {
	if err := x.student(ctx, e); err != nil {
		return err
	}
	segments, err := x.segments(ctx, e, args[0], x.plan.Judge.NeedsSource(), true)
	if err != nil {
		return err
	}
	outputs := build.Outputs(x.set.Seed, segments, x.systems == allSystems, x.items)
	if len(outputs) == 0 {
		return usagef("%s has no output of a system to judge", args[0])
	}
	x.set.Metric = x.plan.Judge.Name()
	x.set.Notes = append(x.set.Notes,
		"The completions were written by the model "+x.plan.Student.Name+", "+english.Count(x.plan.Samples, "sample")+" of each output; the model above told what is wrong with them.")
	return x.set.Refine(ctx, x.plan, outputs)
}

// student finds the judge and its model.
func (x *refining) student(ctx context.Context, e *env) error {
	env := judge.Environment{Asker: x.set.Asker}
	if x.calling() {
		env.Client = func(r *judge.Resolved, server string) (ask.Completer, error) {
			c, err := x.client(e, r.Endpoint(), server)
			if err == nil {
				x.plan.Student.Client = c
			}
			return c, err
		}
	}
	m, err := judge.Registry(func(context.Context) (judge.Environment, error) { return env, nil }, e.registry().Names()...).Parse(ctx, x.metric)
	if err != nil {
		return err
	}
	j := m.(*judge.Judge)
	if why := build.CanRefine(j.Resolved()); why != "" {
		return usagef("-m %s cannot be refined: %s", x.metric, why)
	}
	if j.Samples() > 1 {
		return usagef("-m %s: samples is for scores; write --samples %d, which is how many reports are asked for, and leave the option out", x.metric, j.Samples())
	}
	x.plan.Judge, x.plan.Student.Name, x.plan.Student.Endpoint = j.Resolved(), j.Model(), j.Resolved().Endpoint()
	return nil
}

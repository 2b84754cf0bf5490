package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/build"
)

// refining is one run of refract refine.
type refining struct {
	buildFlags
	metric  string
	systems string
	items   int
	build   build.Refine
}

// Values of --systems.
const (
	oneSystem  = "one"
	allSystems = "all"
)

func (e *env) refineCommand() *cobra.Command {
	x := &refining{}
	cmd := &cobra.Command{
		Use:   "refine [DATASET]",
		Short: "Keep the best of several reports of a judge",
		Long: `A judge writes several reports of each output of a system; another model is asked
what is wrong with each, as 'refract feedback' does, and those of the highest
alignment are examples to train the judge on (section 4.3 of InstructScore's
paper). Two reports of unequal alignment make a preference pair; ties make none.

-m is a judge that scores in one turn. Its model is asked at --base-url, or at
the server that its option base-url names, and the model for the feedback,
--model, at --base-url. -o is a folder as that of 'refract synthesize', with
preference-train and preference-validation beside.`,
		Example: `  refract refine jsonl:data.jsonl -m instructscore:task=mt_zh-en,base-url=http://localhost:8000/v1 --model gpt-4o --dry-run
  refract refine jsonl:data.jsonl -m instructscore:task=mt_zh-en --model gpt-4o -o refined`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: x.asking(e, x.run),
	}
	f := cmd.Flags()
	f.StringVarP(&x.metric, "metric", "m", "", "judge whose reports are refined")
	f.IntVar(&x.build.Samples, "samples", build.DefaultSamples, "reports of each output")
	f.Float64Var(&x.build.Temperature, "temperature", build.SampleTemperature, "sampling temperature of the reports")
	f.Float64Var(&x.build.TopP, "top-p", build.SampleTopP, "nucleus sampling of the reports")
	f.Float64Var(&x.build.Least, "least", 0, "least alignment of a report that is kept")
	f.StringVar(&x.systems, "systems", oneSystem, "one: a system of each segment, drawn by the seed; all: each")
	oneOf(cmd, "systems", oneSystem, allSystems)
	f.IntVar(&x.items, "items", 0, "most outputs, drawn by the seed; 0 for all")
	atLeast(cmd, 2, "samples")
	atLeast(cmd, 0, "items")
	within(cmd, 0, 2, "temperature")
	inRange(cmd, "a number from 0 to 1", func(v float64) bool { return v >= 0 && v <= 1 }, "top-p", "least")
	grouped(cmd, taskFlags, "metric", "samples", "systems", "items")
	x.buildFlags.register(cmd)
	x.registerOutputs(cmd)
	return cmd
}

func (x *refining) run(ctx context.Context, e *env, args []string) error {
	if done, err := x.load(e, "feedback"); done || err != nil {
		return err
	}
	switch {
	case x.metric == "":
		return usagef("-m is missing: name the judge, such as -m instructscore:task=mt_zh-en")
	case len(args) == 0:
		return usagef("DATASET is missing: name the outputs of systems that are judged")
	case x.dir == "" && !x.dryRun:
		return usagef("-o is missing: name the folder to write")
	}
	teacher, err := x.teacher(ctx, e)
	if err != nil {
		return err
	}
	student, resolved, err := x.student(ctx, e, teacher)
	if err != nil {
		return err
	}
	outputs, err := x.outputs(ctx, e, args[0], resolved)
	if err != nil {
		return err
	}
	b := &x.build
	b.Judge, b.Student, b.Seed = resolved, student, x.seed
	b.Feedback = &build.Feedback{Recipe: x.recipe, Teacher: teacher}
	err = b.Of(ctx, outputs, func(it *build.Item) error {
		x.set.Items = append(x.set.Items, it)
		return nil
	})
	if err != nil {
		return err
	}
	teacher.Steps = append(slices.Clone(student.Steps), teacher.Steps...)
	if x.dryRun {
		return x.foreseen(e, teacher.Steps)
	}
	x.set.Metric, x.set.Pairs = resolved.Name(), b.Pairs
	x.set.Served = []build.Prompted{build.PromptedBy(resolved)}
	x.set.Notes = append(x.set.Notes,
		"The completions were written by the model "+student.Model+", "+english.Count(b.Samples, "sample")+" of each output; the model above told what is wrong with them.")
	return x.write(e, teacher)
}

// student is the model of the judge.
func (x *refining) student(ctx context.Context, e *env, teacher *build.Teacher) (*build.Teacher, *judge.Resolved, error) {
	s := &build.Teacher{Asker: teacher.Asker, LookAhead: teacher.LookAhead, Observe: teacher.Observe}
	env := judge.Environment{Asker: teacher.Asker}
	if x.calling() {
		env.Client = func(r *judge.Resolved, server string) (ask.Completer, error) {
			flags := x.serverFlags.at(server)
			c, err := flags.client(e, r.Endpoint())
			if err != nil {
				return nil, err
			}
			s.Client = e.awaiting(c, x.wait)
			return s.Client, nil
		}
	}
	m, err := judge.Registry(func(context.Context) (judge.Environment, error) { return env, nil }, e.registry().Names()...).Parse(ctx, x.metric)
	if err != nil {
		return nil, nil, err
	}
	j := m.(*judge.Judge)
	if why := build.CanRefine(j.Resolved()); why != "" {
		return nil, nil, usagef("-m %s cannot be refined: %s", x.metric, why)
	}
	if j.Samples() > 1 {
		return nil, nil, usagef("-m %s: samples is for scores; write --samples %d, which is how many reports are asked for, and leave the option out", x.metric, j.Samples())
	}
	s.Model, s.Endpoint = j.Model(), j.Resolved().Endpoint()
	return s, j.Resolved(), nil
}

// outputs are those of the dataset that have the texts which are needed.
func (x *refining) outputs(ctx context.Context, e *env, spec string, r *judge.Resolved) ([]build.Output, error) {
	all, err := x.segments(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	segments := slices.DeleteFunc(slices.Clone(all), func(s *refract.Segment) bool {
		return r.NeedsSource() && strings.TrimSpace(s.Source.Value) == "" ||
			!slices.ContainsFunc(s.References, func(t refract.Text) bool { return t.Valid })
	})
	if n := len(all) - len(segments); n > 0 {
		e.warn("segments without a reference, or a source that the judge needs: %d", n)
	}
	outputs := build.Outputs(x.seed, x.outputsOf(e, spec, segments), x.systems == allSystems, x.items)
	if len(outputs) == 0 {
		return nil, usagef("%s has no output of a system to judge", spec)
	}
	return outputs, nil
}

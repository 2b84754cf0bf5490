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
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/build"
)

// mixing is one run of refract synthesize metricinstruct.
type mixing struct {
	buildFlags
	items int
}

func (x *mixing) command(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "metricinstruct [MIX.yaml]",
		Short: "Reports without a reference, of real and synthetic outputs",
		Long: `Make examples for TIGERScore, by section 3 of its paper, of two channels.
real: outputs of the systems of a dataset, drawn by the thirds of any metric's
scores, are analysed in the two turns of the judge xgptscore. synthetic:
references are changed into outputs with errors of aspects that are drawn, and
the errors are described. Rules then leave items out, each with a count:
implausible penalties, explanations that speak of a reference, locations whose
words are not in the text, repeats, and more (docs/building.md).

MIX.yaml is the table of what is asked for, a row for each dataset and task:

  mix:
    - dataset: mtme:data/wmt22/zh-en
      task: translation
      options: {sl: Chinese, tl: English}
      metric: chrf              # by which outputs are parted into thirds
      real: 300
      shares: [1, 1, 2]         # of the best, the middle and the worst third
      synthetic: 100

-o is a folder as that of 'refract synthesize instructscore'.`,
		Example: `  refract synthesize metricinstruct mix.yaml --model gpt-4o --prices prices.yaml --dry-run
  refract synthesize metricinstruct mix.yaml --model gpt-4o -o data`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: x.asking(e, x.run),
	}
	cmd.Flags().IntVar(&x.items, "items", 0, "most items of each channel of a row, drawn by the seed; 0 for those of MIX.yaml")
	atLeast(cmd, 0, "items")
	grouped(cmd, taskFlags, "items")
	x.buildFlags.register(cmd)
	x.registerOutputs(cmd)
	return cmd
}

func (x *mixing) run(ctx context.Context, e *env, args []string) error {
	if done, err := x.load(e, "metricinstruct"); done || err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return usagef("MIX.yaml is missing: name the file that says which items are asked for")
	case x.dir == "" && !x.dryRun:
		return usagef("-o is missing: name the folder to write")
	}
	in, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer in.Close()
	mix, err := build.ReadMix(args[0], in)
	if err != nil {
		return err
	}
	teacher, err := x.teacher(ctx, e)
	if err != nil {
		return err
	}
	b := &build.MetricInstruct{Recipe: x.recipe, Teacher: teacher, Seed: x.seed}
	for i, row := range mix.Rows {
		if x.items > 0 {
			row.Real, row.Synthetic = min(row.Real, x.items), min(row.Synthetic, x.items)
		}
		if err := b.Check(row); err != nil {
			return fmt.Errorf("%s: mix[%d]: %w", args[0], i, err)
		}
	}
	done := func(it *build.Item) error {
		x.set.Items = append(x.set.Items, it)
		return nil
	}
	for _, row := range mix.Rows {
		if err := x.row(ctx, e, b, row, done); err != nil {
			return fmt.Errorf("%s, %s: %w", row.Dataset, row.Task, err)
		}
	}
	if x.dryRun {
		return x.foreseen(e, teacher.Steps)
	}
	x.set.Served = b.Served
	return x.write(e, teacher)
}

// row asks for the items of a dataset.
func (x *mixing) row(ctx context.Context, e *env, b *build.MetricInstruct, row *build.MixRow, done func(*build.Item) error) error {
	all, err := x.segments(ctx, e, row.Dataset)
	if err != nil {
		return err
	}
	segments := slices.DeleteFunc(slices.Clone(all), func(s *refract.Segment) bool {
		return strings.TrimSpace(s.Source.Value) == "" || !slices.ContainsFunc(s.References, func(r refract.Text) bool { return r.Valid && r.Value != "" })
	})
	if n := len(all) - len(segments); n > 0 {
		e.warn("%s: segments without a source or a reference, which give no item: %d", row.Dataset, n)
	}
	if row.Real > 0 {
		outputs, err := x.scored(ctx, e, row.Metric, x.outputsOf(e, row.Dataset, segments))
		if err != nil {
			return err
		}
		drawn := build.Thirds(x.seed, row, outputs)
		if len(drawn) < row.Real {
			e.warn("%s: %d outputs were to be drawn, and the thirds have %d of them", row.Dataset, row.Real, len(drawn))
		}
		if err := b.Real(ctx, row, drawn, done); err != nil {
			return err
		}
	}
	if row.Synthetic == 0 {
		return nil
	}
	if len(segments) < row.Synthetic {
		e.warn("%s: %d references were to be drawn, and there are %d", row.Dataset, row.Synthetic, len(segments))
	}
	return b.Synthetic(ctx, row, segments, done)
}

// scored are the outputs of all systems with their scores against the first
// reference; higher is better.
func (x *mixing) scored(ctx context.Context, e *env, spec string, segments []*refract.Segment) ([]build.Output, error) {
	scoring := &judgeFlags{callFlags: x.callFlags, storeScores: "auto", maxText: refract.DefaultMaxText >> 20}
	run := scoring.run(e)
	run.spend, run.prices, run.silent = x.spend, x.prices, true
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

package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/suggest"
)

// comparer is one run of refract compare.
type comparer struct {
	comparisonFlags
	output
	significanceFlags
	statistics []string
}

func (e *env) compareCommand() *cobra.Command {
	c := &comparer{}
	cmd := &cobra.Command{
		Use:   "compare [DATASET]",
		Short: "Compare settings by their agreement with human judgements",
		Long: `Score every system under every setting (a metric and an aggregator over
references) and compare with human judgements.

With --significance, settings are tested against each other. --table pairs
shows the p-values, with Holm's correction, and --table ranks the ranks under
all statistics.

Scores made elsewhere take part as well. The metric "stored" is every metric
score file of an mtme: dataset, and "stored:NAME" one of them, such as
stored:COMET-22-refA. --scores reads those of a metric of one's own. With
--matrix, scores stored by 'refract score --per cell' take the place of scoring.`,
		Example: `  refract compare mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified
  refract compare jsonl:judged.jsonl -m chrf -a single,max,mean --group segment
  refract compare jsonl:judged.jsonl -m chrf --scores mine=mine.tsv
  refract compare mtme:data/wmt22/zh-en -m stored --statistic acc23 --group segment --significance perm-pairs --table pairs`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), e, args) },
	}
	c.output.register(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&c.statistics, "statistic", []string{"kendall", "accuracy"}, statisticList+" (repeatable or comma-separated)")
	c.comparisonFlags.register(e, cmd, "single,max,mean,native")
	c.significanceFlags.register(cmd)
	grouped(cmd, inputFlags, "matrix", "scores")
	return cmd
}

func (c *comparer) run(ctx context.Context, e *env, args []string) error {
	p, err := c.plan("", args, c.statistics, "single", "max", "mean", "native")
	if err != nil {
		return err
	}
	p.Repeat = true
	if err := c.ask(p); err != nil {
		return err
	}
	out, err := e.create(c.path)
	if err != nil {
		return err
	}
	return c.runner(e, args, p).show(ctx, func(res *experiment.Result) error { return c.whole(out, c.view(p, res)) })
}

// The tables that a comparison can show.
const (
	settingsTable = "settings"
	pairsTable    = "pairs"
	ranksTable    = "ranks"
)

// significanceFlags say how settings are tested against each other.
type significanceFlags struct {
	method    string
	resamples int
	block     int
	alpha     float64
	what      string
}

func (s *significanceFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.method, "significance", "", strings.Join(significance.MethodNames(), ", ")+": test settings against each other")
	f.IntVar(&s.resamples, "resamples", 1000, "resamples of a test")
	f.IntVar(&s.block, "block", 100, "resamples after which a permutation test ends early if p is below 0.02 or above 0.5; 0 for never")
	f.Float64Var(&s.alpha, "alpha", 0.05, "largest p-value that is significant")
	f.StringVar(&s.what, "table", settingsTable, "settings, pairs (p-values) or ranks")
	grouped(cmd, statisticFlags, "significance", "table")
	complete(cmd, "significance", significance.MethodNames()...)
	complete(cmd, "table", settingsTable, pairsTable, ranksTable)
}

// ask adds the tests to a plan.
func (s *significanceFlags) ask(p *experiment.Plan) error {
	tables := []string{settingsTable, pairsTable, ranksTable}
	if !slices.Contains(tables, s.what) {
		return usagef("--table: %s", suggest.Unknown("table", s.what, tables))
	}
	if s.method == "" {
		if s.what != settingsTable {
			return usagef("--table %s needs a test: choose one by --significance, such as perm-both", s.what)
		}
		return nil
	}
	if !(s.alpha > 0 && s.alpha < 1) {
		return usagef("--alpha %v: want a share between 0 and 1", s.alpha)
	}
	if s.block < 0 {
		return usagef("--block %d: want 0 or more", s.block)
	}
	if err := s.test(p); err != nil {
		return err
	}
	for _, st := range p.Statistics {
		if err := p.Test.Method.Takes(st.Measure); err != nil {
			return usagef("--significance: %w (--statistic says which are tested)", err)
		}
	}
	p.Pairing, p.Test.Block, p.Test.Alpha = experiment.EveryPair, s.block, s.alpha
	return nil
}

// test gives a plan the test that was asked for.
func (s *significanceFlags) test(p *experiment.Plan) error {
	if s.resamples < 1 {
		return usagef("--resamples %d: want 1 or more", s.resamples)
	}
	if s.method == listNone {
		return nil
	}
	method, err := significance.ParseMethod(s.method)
	if err != nil {
		return usagef("--significance: %w", err)
	}
	p.Test = experiment.Test{Method: method, Resamples: s.resamples, Seed: p.Bootstrap.Seed}
	return nil
}

package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/report"
)

// comparer is one run of refract compare.
type comparer struct {
	comparisonFlags
	output
	significanceFlags
	block   int
	blocked func() bool // whether --block is given
	alpha   float64
	power   experiment.Power
	what    string
}

func (e *env) compareCommand() *cobra.Command {
	c := &comparer{}
	cmd := &cobra.Command{
		Use:   "compare [DATASET]",
		Short: "Compare settings by their agreement with human judgements",
		Long: `Score every system under every setting (a metric and an aggregator over
references) and compare with human judgements.

--significance tests settings against each other. --table pairs shows the
p-values, with Holm's correction, and --table ranks the ranks under all
statistics. --table power says what difference a comparison of two settings
sees, and how many segments it needs.

Scores made elsewhere take part as well. -m stored is every metric score file of
an mtme: dataset, and -m stored:NAME one of them, such as stored:COMET-22-refA.
--scores reads a file of your own. --matrix takes the scores that
'refract score --per cell' stored, and scores nothing.`,
		Example: `  refract compare mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified
  refract compare jsonl:judged.jsonl -m chrf -a single,max,mean --group segment
  refract compare jsonl:judged.jsonl -m chrf --scores mine=mine.tsv
  refract compare mtme:data/wmt22/zh-en -m stored --statistic acc23 --group segment --significance perm-pairs --table pairs`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			idle := []string{"power", "difference"}
			if c.what == powerTable {
				idle = []string{"significance", "resamples", "block"}
			}
			if err := isIdle(cmd, c.what, idle...); err != nil {
				return err
			}
			return c.run(cmd.Context(), e, args)
		},
	}
	c.register(e, cmd)
	return cmd
}

func (c *comparer) register(e *env, cmd *cobra.Command) {
	c.output.register(cmd)
	c.registerStatistics(cmd)
	c.comparisonFlags.register(e, cmd, "single,max,mean,native")
	c.significanceFlags.register(cmd, "", ": test settings against each other")
	f := cmd.Flags()
	c.blocked = func() bool { return f.Changed("block") }
	f.IntVar(&c.block, "block", earlyBlock, "resamples after which a permutation test ends early if p is below 0.02 or above 0.5; 0 for never, as under --table pairs")
	f.Float64Var(&c.alpha, "alpha", 0.05, "largest p-value that is significant")
	f.Float64Var(&c.power.Share, "power", 0.8, "probability to see a difference, for --table power")
	f.Float64Var(&c.power.Difference, "difference", 0, "difference of a statistic to see, for --table power (default the one found)")
	f.StringVar(&c.what, "table", settingsTable, "settings, pairs (p-values), ranks or power")
	within(cmd, 0, correlate.MaxResamples, "block")
	isShare(cmd, "alpha", "power")
	isPositive(cmd, "difference")
	oneOf(cmd, "table", settingsTable, pairsTable, ranksTable, powerTable)
	grouped(cmd, statisticFlags, "table")
	grouped(cmd, inputFlags, "matrix", "scores")
}

func (c *comparer) run(ctx context.Context, e *env, args []string) error {
	p, err := c.plan("", args, "single", "max", "mean", "native")
	if err != nil {
		return err
	}
	if err := c.ask(p); err != nil {
		return err
	}
	out, err := e.create(c.path)
	if err != nil {
		return err
	}
	return c.runner(e, args, p).show(ctx, func(res *experiment.Result) error {
		t := c.view(p, res)
		if len(t.Rows) == 0 && c.format.ForPeople() {
			_, err := fmt.Fprintf(out, "One setting is left, %s, and so no pair to test.\n", res.Rows[0].Setting.OfAll())
			return err
		}
		return c.whole(out, t)
	})
}

// view is the table that was asked for.
func (c *comparer) view(p *experiment.Plan, res *experiment.Result) *report.NamedTable {
	t := map[string]func(*experiment.Plan, *experiment.Result) *report.NamedTable{
		settingsTable: experiment.SettingsTable, pairsTable: experiment.PairsTable, ranksTable: experiment.RanksTable, powerTable: experiment.PowerTable,
	}[c.what](p, res)
	about := &report.NamedTable{}
	c.describe(about, &res.Datasets[0])
	if c.what == settingsTable {
		c.explain(about, res.Datasets[0].ResampledBy, "")
	}
	t.Notes = append(about.Notes, t.Notes...)
	return t
}

// The tables that a comparison can show.
const (
	settingsTable = "settings"
	pairsTable    = "pairs"
	ranksTable    = "ranks"
)

// ask adds the tests to a plan.
func (c *comparer) ask(p *experiment.Plan) error {
	if c.what == powerTable {
		return c.askPower(p)
	}
	if !c.tested {
		if c.what != settingsTable {
			return usagef("--table %s needs a test: choose one by --significance, such as perm-both", c.what)
		}
		return nil
	}
	for _, st := range p.Statistics {
		if err := c.method.Takes(st.Measure); err != nil {
			return usagef("--significance: %w (--statistic says which are tested)", err)
		}
	}
	// A test that ends early has a p-value that no correction for many pairs leaves significant.
	if c.what == pairsTable && !c.blocked() {
		c.block = 0
	}
	p.Pairing, p.Test = experiment.EveryPair, c.test(c.seed)
	p.Test.Block, p.Test.Alpha = c.block, c.alpha
	return nil
}

// askPower adds differences of all settings to a plan.
func (c *comparer) askPower(p *experiment.Plan) error {
	if c.bootstrap < 2 {
		return usagef("--table power takes standard errors from resamples: leave --bootstrap %d out", c.bootstrap)
	}
	p.Pairing, p.Power = experiment.EveryDifference, c.power
	p.Power.Alpha = c.alpha
	return nil
}

// earlyBlock is mt-metrics-eval's.
const earlyBlock = 100

// significanceFlags say how settings are tested.
type significanceFlags struct {
	method    significance.Method
	tested    bool
	resamples int
}

func (s *significanceFlags) register(cmd *cobra.Command, def, usage string) {
	names := append(significance.MethodNames(), listNone)
	parse := func(name string) (m significance.Method, err error) {
		if s.tested = name != listNone; s.tested {
			m, err = significance.ParseMethod(name)
		}
		return m, err
	}
	parsedFlag(cmd, &s.method, "significance", def, parse, strings.Join(significance.MethodNames(), ", ")+usage, names...)
	cmd.Flags().IntVar(&s.resamples, "resamples", 1000, "resamples of a test")
	within(cmd, 1, correlate.MaxResamples, "resamples")
	grouped(cmd, statisticFlags, "significance")
}

// test is the one that was asked for, if any.
func (s *significanceFlags) test(seed uint64) experiment.Test {
	if !s.tested {
		return experiment.Test{}
	}
	return experiment.Test{Method: s.method, Resamples: s.resamples, Seed: seed}
}

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/object"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// curver is one run of refract curve.
type curver struct {
	comparisonFlags
	output
	embeddingFlags
	statistic correlate.Statistic
	by        []selection.Method
	over      []string
	k         []int
	seeds     int
	plot      string
}

func (e *env) curveCommand() *cobra.Command {
	c := &curver{}
	cmd := &cobra.Command{
		Use:   "curve [DATASET]",
		Short: "Show agreement with human judgements by the number of references",
		Long: `Score every system against every reference, once. Then show the agreement with
human judgements for the originals and k variants, chosen in several ways: how
many references are enough, and which. In a dataset without variants, k other
originals stand beside the first.

Agreement is that of 'refract compare'. random is the mean over --seeds random
orders, the first of them by --seed; its band runs from the least to the largest.
Each value is compared with that of all variants, and with random at the same
k; these intervals are of paired differences, bootstrapped over documents,
where there are any, or what --resample-by says.`,
		Example: `  refract curve mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified --plot curve.svg
  refract curve jsonl:judged.jsonl -m chrf -a max,mean -k 0,1,2,4,8 --by order,random
  refract curve jsonl:judged.jsonl --over ngrams,embeddings --embeddings text-embedding-3-small`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), e, args) },
	}
	c.output.register(cmd)
	f := cmd.Flags()
	parsedFlag(cmd, &c.statistic, "statistic", "kendall", correlate.ParseStatistic, statisticList, correlate.StatisticNames()...)
	grouped(cmd, statisticFlags, "statistic")
	c.comparisonFlags.register(e, cmd, "max")
	c.embeddingFlags.registerBeside(cmd, "revision")
	grouped(cmd, modelFlags, "embeddings")
	listFlag(cmd, &c.by, "by", strings.Join(selection.MethodNames(), ","), selection.ParseMethod, selection.Method.String,
		"ways to choose variants (repeatable or comma-separated)", selection.MethodNames()...)
	listFlag(cmd, &c.over, "over", overNGrams, wordOf(overNGrams, overEmbeddings), strings.Clone,
		"what farthest and facility compare: ngrams, embeddings or both", overNGrams, overEmbeddings)
	f.IntSliceVarP(&c.k, "count", "k", nil, "numbers of variants (default 0, 1, … up to all)")
	f.IntVar(&c.seeds, "seeds", 20, "random orders")
	f.StringVar(&c.plot, "plot", "", "`FILE`.svg to draw the curves into")
	within(cmd, 1, experiment.MaxSeeds, "seeds")
	grouped(cmd, taskFlags, "by", "count", "plot")
	return cmd
}

// ask turns the flags into a plan: nothing but curves.
func (c *curver) ask(args []string) (*experiment.Plan, error) {
	c.statistics = []correlate.Statistic{c.statistic}
	p, err := c.plan("", args, "max")
	if err != nil {
		return nil, err
	}
	if len(p.Statistics) > 1 {
		return nil, usagef("a curve is of one level and one group; 'refract compare' sets several side by side")
	}
	if len(c.scores) > 0 || slices.ContainsFunc(c.metrics, isStored) {
		return nil, usagef("scores that were made elsewhere are not of single references, so there is no curve; --matrix has such scores")
	}
	for _, a := range p.Aggregators {
		if a.Native() {
			return nil, usagef("--aggregate native scores anew for every choice of references, which curve does not do; choose another, such as max")
		}
	}
	for _, k := range c.k {
		if k < 0 {
			return nil, usagef("-k %d: want 0 or more", k)
		}
	}
	if ext := object.Ext(c.plot); c.plot != "" && ext != ".svg" {
		return nil, usagef("--plot %s: want a name that ends in .svg", c.plot)
	}
	if err := c.needs(c.over...); err != nil {
		return nil, err
	}
	p.Sets, p.Repeat = nil, true
	counts := slices.Compact(slices.Sorted(slices.Values(c.k)))
	p.Curves = curves(c.by, c.over, c.seeds, experiment.Curve{Counts: counts, Aggregators: p.Aggregators, Resamples: c.bootstrap})
	return p, nil
}

// curves are those by the named methods, one for each of over where a method
// compares texts, and of so many random orders.
func curves(by []selection.Method, over []string, seeds int, c experiment.Curve) []experiment.Curve {
	var out []experiment.Curve
	for _, c.Method = range by {
		c.Seeds = 1
		if c.Method == selection.ByRandom {
			c.Seeds = seeds
		}
		overs := []string{""}
		if c.Method.Compares() {
			overs = over
		}
		for _, c.Over = range overs {
			out = append(out, c)
		}
	}
	return out
}

func (c *curver) run(ctx context.Context, e *env, args []string) error {
	p, err := c.ask(args)
	if err != nil {
		return err
	}
	out, err := e.create(c.path)
	if err != nil {
		return err
	}
	var drawing *atomicfile.File
	if c.plot != "" {
		if drawing, err = e.create(c.plot); err != nil {
			return err
		}
	}
	r := c.runner(e, args, p)
	x := &c.embeddingFlags
	x.beside(c.judgeFlags.serverFlags)
	r.Similarity = func(ctx context.Context, over string) (selection.Similarity, error) {
		return x.similarity(ctx, e, over)
	}
	defer x.close()
	return r.show(ctx, func(res *experiment.Result) error {
		t := &report.NamedTable{}
		c.describe(t, &res.Datasets[0])
		if slices.ContainsFunc(res.Curves, func(cv experiment.CurveResult) bool { return cv.Over == overEmbeddings }) {
			t.Note("embeddings: %s", c.embeddingFlags.model)
		}
		experiment.CompareCurves(t, p, res)
		c.explain(t, res.Datasets[0].ResampledBy, "; differences are paired")
		if err := c.whole(out, t); err != nil || drawing == nil {
			return err
		}
		var panels []figure.Panel
		for _, lines := range res.CurvesBySetting() {
			panels = append(panels, experiment.CurvePanel(lines, "variants beside the original", func(p *experiment.Point) int { return p.K }))
		}
		if err := figure.Draw(drawing, figure.Style{}, panels...); err != nil {
			return fmt.Errorf("%s: plot: %w", c.plot, err)
		}
		return nil
	})
}

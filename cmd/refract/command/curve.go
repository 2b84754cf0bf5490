package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// curver is one run of refract curve.
type curver struct {
	comparisonFlags
	output
	embeddingFlags
	statistic string
	by, over  []string
	k         []int
	seeds     int
	plot      string
}

func (e *env) curveCommand() *cobra.Command {
	c := &curver{}
	cmd := &cobra.Command{
		Use:   "curve [DATASET]",
		Short: "Show agreement with human judgements by the number of references",
		Long: `Score every system against every reference, once, and show the agreement with
human judgements when only the originals and k of the variants are used, chosen
in several ways: how many references are enough, and which. In a dataset without
variants, k of the other originals are used beside the first.

Agreement is as 'refract compare' has it. The value of random is the mean over
--seeds random orders, the first of them by --seed, and its band is from the
least to the largest of them.
Each value is compared with that of all variants, and with random at the same
k; these intervals are of paired differences, bootstrapped over segments.`,
		Example: `  refract curve mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified --plot curve.svg
  refract curve jsonl:judged.jsonl -m chrf -a max,mean -k 0,1,2,4,8 --by order,random
  refract curve jsonl:judged.jsonl --over ngrams,embeddings --embeddings text-embedding-3-small`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), e, args) },
	}
	c.output.register(cmd)
	f := cmd.Flags()
	f.StringVar(&c.statistic, "statistic", "kendall", statisticList)
	c.comparisonFlags.register(e, cmd, "max")
	c.embeddingFlags.registerModel(cmd)
	f.StringSliceVar(&c.by, "by", selection.MethodNames(), "ways to choose variants (repeatable or comma-separated)")
	f.StringSliceVar(&c.over, "over", []string{overNGrams}, "what farthest and facility compare: ngrams, embeddings or both")
	f.IntSliceVarP(&c.k, "count", "k", nil, "numbers of variants (default 0, 1, … up to all)")
	f.IntVar(&c.seeds, "seeds", 20, "random orders")
	f.StringVar(&c.plot, "plot", "", "file.svg or file.png to draw the curves into")
	grouped(cmd, taskFlags, "by", "count", "plot")
	complete(cmd, "by", selection.MethodNames()...)
	complete(cmd, "over", overNGrams, overEmbeddings)
	return cmd
}

// ask turns the flags into a plan: nothing but curves.
func (c *curver) ask(args []string) (*experiment.Plan, error) {
	p, err := c.plan("", args, []string{c.statistic}, "max")
	if err != nil {
		return nil, err
	}
	if len(c.scores) > 0 || slices.ContainsFunc(c.metrics, func(m string) bool { return strings.HasPrefix(m+":", storedMetric+":") }) {
		return nil, usagef("scores that were made elsewhere are not of single references, so there is no curve; --matrix has such scores")
	}
	for _, a := range p.Aggregators {
		if a.Native() {
			return nil, usagef("--aggregate native scores anew for every choice of references, which curve does not do; choose another, such as max")
		}
	}
	if c.seeds < 1 {
		return nil, usagef("--seeds %d: want 1 or more", c.seeds)
	}
	for _, k := range c.k {
		if k < 0 {
			return nil, usagef("-k %d: want 0 or more", k)
		}
	}
	if ext := filepath.Ext(c.plot); c.plot != "" && ext != ".svg" && ext != ".png" {
		return nil, usagef("--plot %s: want a name that ends in .svg or .png", c.plot)
	}
	for i, over := range c.over {
		if err := c.checkOver(over); err != nil {
			return nil, err
		}
		if slices.Contains(c.over[:i], over) {
			return nil, usagef("--over %s is given twice", over)
		}
	}
	counts := slices.Compact(slices.Sorted(slices.Values(c.k)))
	for i, name := range c.by {
		m, err := selection.ParseMethod(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--by: %w", err)
		}
		if slices.Contains(c.by[:i], name) {
			return nil, usagef("--by %s is given twice", m)
		}
		curve := experiment.Curve{Method: m, Seeds: 1, Counts: counts, Aggregators: p.Aggregators, Resamples: c.bootstrap}
		if m == selection.ByRandom {
			curve.Seeds = c.seeds
		}
		overs := []string{""}
		if m.Compares() {
			overs = c.over
		}
		for _, curve.Over = range overs {
			p.Curves = append(p.Curves, curve)
		}
	}
	p.Sets, p.Repeat = nil, true
	return p, nil
}

func (c *curver) run(ctx context.Context, e *env, args []string) error {
	p, err := c.ask(args)
	if err != nil {
		return err
	}
	if _, err := c.kind(); err != nil {
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
	r := c.runner(e, args)
	x := &c.embeddingFlags
	x.serverFlags, x.cache, x.offline = c.judgeFlags.serverFlags, c.judgeFlags.cache, c.judgeFlags.offline
	similarities := map[string]selection.Similarity{}
	r.Similarity = func(ctx context.Context, over string) (selection.Similarity, error) {
		if similarities[over] == nil {
			s, done, err := x.similarity(ctx, e, over)
			if err != nil {
				return nil, err
			}
			similarities[over], r.atEnd = s, append(r.atEnd, done)
		}
		return similarities[over], nil
	}
	return r.show(ctx, p, func(res *experiment.Result, _ experiment.Usage) error {
		panels := panelsOf(res)
		if err := c.write(out, res, panels); err != nil {
			return err
		}
		if drawing != nil {
			if err := c.draw(drawing, panels); err != nil {
				return fmt.Errorf("%s: plot: %w", c.plot, err)
			}
		}
		return nil
	})
}

// panelsOf parts curves by their setting, in the order of the settings.
func panelsOf(res *experiment.Result) [][]*experiment.CurveResult {
	var out [][]*experiment.CurveResult
	for i := range res.Curves {
		cv := &res.Curves[i]
		at := slices.IndexFunc(out, func(p []*experiment.CurveResult) bool {
			return p[0].Metric == cv.Metric && p[0].Aggregator == cv.Aggregator
		})
		if at < 0 {
			at, out = len(out), append(out, nil)
		}
		out[at] = append(out[at], cv)
	}
	return out
}

func (c *curver) write(out io.Writer, res *experiment.Result, panels [][]*experiment.CurveResult) error {
	t := &report.NamedTable{Columns: []report.Column{
		{Name: "metric"},
		{Name: "aggregate"},
		{Name: "by"},
		{Name: "over"},
		{Name: "k", Kind: report.KindInt},
		{Name: "references", Header: "refs", Kind: report.KindInt, Minor: true},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "band", Kind: report.KindInterval, Digits: 3, Minor: true},
		{Name: "to_all", Header: "to all", Kind: report.KindFloat, Digits: 3},
		{Name: "to_all_ci", Header: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "to_random", Header: "to random", Kind: report.KindFloat, Digits: 3},
		{Name: "to_random_ci", Header: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "n", Kind: report.KindInt, Minor: true},
		{Name: "missing", Kind: report.KindInt, Minor: true},
	}, Notes: c.notes(&res.Datasets[0], panels)}
	for _, lines := range panels {
		var random *experiment.CurveResult
		for _, cv := range lines {
			if cv.By == selection.ByRandom.String() {
				random = cv
			}
		}
		for _, cv := range lines {
			for at := range cv.Points {
				p := &cv.Points[at]
				toRandom, toRandomRange := report.None(), (*report.Range)(nil)
				if random != nil && random != cv {
					toRandom, toRandomRange = p.Less(&random.Points[at], c.confidence)
				}
				t.Rows = append(t.Rows, []report.Value{
					report.String(cv.Metric), report.String(cv.Aggregator), report.String(cv.By), report.StringOrNull(cv.Over),
					report.Int(p.K), report.Int(p.References), p.Value.Cell(), p.Interval.Cell(), report.Interval(float64(p.Least), float64(p.Largest)),
					p.ToAll.Cell(), p.ToAllRange.Cell(), toRandom.Cell(), toRandomRange.Cell(),
					report.Int(p.N), report.Int(p.Missing),
				})
			}
		}
	}
	return c.whole(out, t)
}

func (c *curver) notes(d *experiment.DatasetInfo, panels [][]*experiment.CurveResult) []string {
	n := c.judgementFlags.notes(d)
	for _, cv := range slices.Concat(panels...) {
		if cv.By == selection.ByRandom.String() && cv.Seeds > 1 {
			n.add(fmt.Sprintf("random: mean of %d orders, seeds %d to %d; band: the least and the largest of them", cv.Seeds, c.seed, c.seed+uint64(cv.Seeds-1)))
		}
	}
	for _, cv := range slices.Concat(panels...) {
		if cv.Over != "" && cv.Over != overNGrams {
			n.add("embeddings: " + c.embeddingFlags.model)
		}
	}
	n.add("k: variants beside the originals; to all: difference to all variants; to random: to the mean of random with the same k")
	if c.bootstrap > 0 {
		n.add(fmt.Sprintf("ci: %g%% bootstrap over segments, %d resamples, seed %d; differences are paired", 100*c.confidence, c.bootstrap, c.seed))
	}
	return n.lines
}

// draw draws the panels side by side, as SVG or PNG by the extension. What has a
// band, the random orders, is what the other lines are compared with.
func (c *curver) draw(w io.Writer, panels [][]*experiment.CurveResult) error {
	var all []figure.Panel
	for _, lines := range panels {
		out := &figure.Lines{
			Title: lines[0].Metric + ", " + lines[0].Aggregator, X: "variants beside the original", Y: c.statistic + " with " + lines[0].Human, WholeX: true,
		}
		for _, cv := range lines {
			s := figure.Series{Name: cv.By, Muted: cv.Seeds > 1}
			if cv.Over != "" {
				s.Name += ", " + cv.Over
			}
			for _, p := range cv.Points {
				s.Points = append(s.Points, figure.Point{X: float64(p.K), Y: float64(p.Value), Low: float64(p.Least), High: float64(p.Largest)})
			}
			out.Series = append(out.Series, s)
		}
		all = append(all, out)
	}
	return figure.Draw(w, figure.Style{Format: figure.Format(strings.TrimPrefix(filepath.Ext(c.plot), "."))}, all...)
}

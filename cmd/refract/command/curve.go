package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// curver is one run of refract curve.
type curver struct {
	input
	settingFlags
	output
	embeddingFlags
	judgementFlags
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
in several ways: how many references are enough, and which.

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
	c.input.register(cmd)
	c.settingFlags.register(e, cmd, "max")
	c.embeddingFlags.register(cmd)
	c.output.register(cmd)
	f := cmd.Flags()
	f.StringVar(&c.statistic, "statistic", "kendall", statisticList)
	c.judgementFlags.register(cmd)
	f.StringSliceVar(&c.by, "by", selection.MethodNames(), "ways to choose variants (repeatable or comma-separated)")
	f.StringSliceVar(&c.over, "over", []string{"ngrams"}, "what farthest and facility compare: ngrams, embeddings or both")
	f.IntSliceVarP(&c.k, "count", "k", nil, "numbers of variants (default 0, 1, … up to all)")
	f.IntVar(&c.seeds, "seeds", 20, "random orders")
	f.StringVar(&c.plot, "plot", "", "file.svg or file.png to draw the curves into")
	grouped(cmd, taskFlags, "by", "over", "count", "plot")
	complete(cmd, "by", selection.MethodNames()...)
	complete(cmd, "over", "ngrams", "embeddings")
	return cmd
}

// curvePlan is what the flags ask for.
type curvePlan struct {
	settings []refract.Setting
	engine   *refract.Engine
	reducer  *refract.Reducer
	measure  correlate.Measure
	methods  []selection.Method
}

func (c *curver) parse(ctx context.Context, e *env) (*curvePlan, error) {
	p := &curvePlan{}
	measures, err := c.measures(c.statistic)
	if err != nil {
		return nil, err
	}
	p.measure = measures[0]
	if c.seeds < 1 {
		return nil, usagef("--seeds %d: want 1 or more", c.seeds)
	}
	for _, k := range c.k {
		if k < 0 {
			return nil, usagef("-k %d: want 0 or more", k)
		}
	}
	for _, name := range c.by {
		m, err := selection.ParseMethod(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--by: %w", err)
		}
		if slices.Contains(p.methods, m) {
			return nil, usagef("--by %s is given twice", m)
		}
		p.methods = append(p.methods, m)
	}
	for i, over := range c.over {
		if err := c.checkOver(over); err != nil {
			return nil, err
		}
		if slices.Contains(c.over[:i], over) {
			return nil, usagef("--over %s is given twice", over)
		}
	}
	if ext := filepath.Ext(c.plot); c.plot != "" && ext != ".svg" && ext != ".png" {
		return nil, usagef("--plot %s: want a name that ends in .svg or .png", c.plot)
	}
	return p, c.parseSettings(ctx, e, p)
}

func (c *curver) parseSettings(ctx context.Context, e *env, p *curvePlan) error {
	ms, err := c.parseMetrics(ctx, e)
	if err != nil {
		return err
	}
	aggs, err := c.parseAggregators()
	if err != nil {
		return err
	}
	if len(aggs) == 0 {
		aggs = aggregators("max")
	}
	for _, m := range ms {
		if !m.Info().NeedsReferences {
			return usagef("--metric %s uses no references, so there is no curve", m.Info().Name)
		}
	}
	for _, a := range aggs {
		if a.Native() {
			return usagef("--aggregate native scores anew for every choice of references, which curve does not do; choose another, such as max")
		}
	}
	policy, err := c.missing()
	if err != nil {
		return err
	}
	if p.settings, err = cross(ms, aggs, true, scoresNative); err != nil {
		return err
	}
	p.engine, err = refract.NewEngine(p.settings, refract.Options{AllowNoReferences: c.allowNone, Missing: policy})
	if err != nil {
		return err
	}
	p.reducer = p.engine.Reducer()
	return nil
}

func (c *curver) run(ctx context.Context, e *env, args []string) error {
	p, err := c.parse(ctx, e)
	if err != nil {
		return err
	}
	if _, err := c.kind(); err != nil {
		return err
	}
	ds, err := c.dataset(e, args, true)
	if err != nil {
		return err
	}
	out, err := c.output.open(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	picture := output{path: c.plot}
	var drawing *atomicfile.File
	if c.plot != "" {
		if drawing, err = picture.open(e); err != nil {
			return err
		}
		defer drawing.Abort()
	}
	scored, err := score(ctx, p.engine, ds)
	if err != nil {
		return err
	}
	series, done, err := c.series(ctx, e, p, scored)
	if err != nil {
		return err
	}
	defer done()
	cv, err := c.curves(ctx, p, scored, series)
	if err != nil {
		return err
	}
	if err := c.write(out, cv); err != nil {
		return err
	}
	if drawing != nil {
		if err := drawCurves(drawing, filepath.Ext(c.plot), cv); err != nil {
			return fmt.Errorf("%s: %w", c.plot, err)
		}
		if err := drawing.Commit(); err != nil {
			return err
		}
	}
	return out.Commit()
}

// scoredSegment is a segment whose hypotheses have been dropped, with its
// scores.
type scoredSegment struct {
	segment *refract.Segment
	scores  []refract.MetricScores
}

// score scores the whole dataset and holds the scores.
func score(ctx context.Context, engine *refract.Engine, ds refract.Dataset) ([]scoredSegment, error) {
	var out []scoredSegment
	err := engine.Run(ctx, ds, func(s *refract.SegmentScores) error {
		for h := range s.Segment.Hypotheses {
			s.Segment.Hypotheses[h].Text = refract.Text{} // the scores are there
		}
		out = append(out, scoredSegment{s.Segment, s.Metrics})
		return nil
	})
	return out, err
}

// series is a way to choose variants, with the orders that it gives.
type series struct {
	by, over string // over is "" where texts are not compared
	orders   [][][]int
}

func (s *series) name() string {
	if s.over == "" {
		return s.by
	}
	return s.by + ", " + s.over
}

// series makes the orders of all ways to choose. done ends the use of what
// they need.
func (c *curver) series(ctx context.Context, e *env, p *curvePlan, scored []scoredSegment) (all []series, done func(), err error) {
	var ends []func()
	done = func() {
		for _, f := range ends {
			f()
		}
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	similarities := map[string]selection.Similarity{}
	segments := make([]*refract.Segment, len(scored))
	for i := range scored {
		segments[i] = scored[i].segment
	}
	for _, m := range p.methods {
		overs := []string{""}
		if m.Compares() {
			overs = c.over
		}
		for _, over := range overs {
			s := &selection.Selector{Method: m}
			if over != "" && similarities[over] == nil {
				var end func()
				if similarities[over], end, err = c.similarity(ctx, e, over); err != nil {
					return nil, nil, err
				}
				ends = append(ends, end)
			}
			s.Similarity = similarities[over]
			seeds := 1
			if m == selection.ByRandom {
				seeds = c.seeds
			}
			line := series{by: m.String(), over: over}
			for i := range seeds {
				s.Seed = c.seed + uint64(i)
				orders, err := experiment.Orders(ctx, s, segments)
				if err != nil {
					return nil, nil, err
				}
				line.orders = append(line.orders, orders)
			}
			all = append(all, line)
		}
	}
	return all, done, nil
}

// values sets the scores with the first k variants of an order beside the
// judgements. It also says how many references there were at most.
func (p *curvePlan) values(scored []scoredSegment, setting, metric int, orders [][]int, k int) (*agreement.Collector, int, error) {
	set := p.settings[setting]
	info := set.Metric.Info()
	col := agreement.NewCollector(1)
	most := 0
	for i, s := range scored {
		columns := experiment.WithVariants(s.segment, orders[i][:min(k, len(orders[i]))])
		ms, some := experiment.Subset(&s.scores[metric], columns)
		var failed error
		col.Add(s.segment, func(_, h int) (float64, bool) {
			if !some {
				return 0, false
			}
			red, err := p.reducer.ReduceMatrix(&ms, setting, h)
			if err != nil {
				failed = fmt.Errorf("segment %q, system %q: %w", s.segment.ID, s.segment.Hypotheses[h].System, err)
			}
			if err != nil || red.Status != metrics.Scored {
				return 0, false
			}
			most = max(most, red.References)
			return float64(info.Direction) * red.Value, true
		})
		if failed != nil {
			return nil, 0, failed
		}
	}
	return col, most, nil
}

func (c *curver) write(out *atomicfile.File, cv *curveSet) error {
	w, err := c.table(out, curveColumns(), report.Options{Notes: cv.notes})
	if err != nil {
		return err
	}
	for _, panel := range cv.panels {
		for _, line := range panel.lines {
			for _, p := range line.points {
				if err := w.Row(p.row(panel, line)...); err != nil {
					return err
				}
			}
		}
	}
	return w.Close()
}

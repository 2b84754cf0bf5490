package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/report"
)

// comparer is one run of refract compare.
type comparer struct {
	input
	settingFlags
	output
	human        string
	statistics   []string
	grouping     string
	includeHuman bool
	matrix       string
	bootstrap    int
	confidence   float64
	seed         uint64
}

func (e *env) compareCommand() *cobra.Command {
	c := &comparer{}
	cmd := &cobra.Command{
		Use:   "compare [DATASET]",
		Short: "Compare settings by their agreement with human judgements",
		Long: `Score every system under every setting (a metric and an aggregator over
references) and compare with human judgements.
` + datasetHelp + `

Statistics: kendall (tau-b), spearman and pearson between the scores of
segments, flattened or averaged over segments or systems (--group), by the
rules of mt-metrics-eval; and accuracy, the share of pairs of systems that are
ordered as by the judgements, on means over segments. Scores of metrics for
which lower is better are negated first. Intervals are bootstrapped over
segments.

The metric "stored" is every metric score file of an mtme: dataset, and
"stored:NAME" one of them, such as stored:COMET-22-refA. With --matrix, scores
stored by 'refract score --per cell' take the place of scoring.`,
		Example: `  refract compare mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified
  refract compare jsonl:judged.jsonl -m chrf -a single,max,mean --group segment
  refract compare mtme:data/wmt22/zh-en -m stored --statistic kendall,pearson -f markdown`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), e, args) },
	}
	c.input.register(cmd)
	c.settingFlags.register(cmd, "single,max,mean,native")
	c.output.register(cmd)
	f := cmd.Flags()
	f.StringVar(&c.human, "human", "", "name of the human scores (default the only ones, or mqm)")
	f.StringSliceVar(&c.statistics, "statistic", []string{"kendall", "accuracy"}, "kendall, spearman, pearson, accuracy (repeatable or comma-separated)")
	f.StringVar(&c.grouping, "group", "none", "none, segment or system: what correlations are averaged over")
	f.BoolVar(&c.includeHuman, "include-references", false, "compare references scored as systems too")
	f.StringVar(&c.matrix, "matrix", "", "stored matrix to take the scores from")
	f.IntVar(&c.bootstrap, "bootstrap", 1000, "resamples for confidence intervals; 0 for none")
	f.Float64Var(&c.confidence, "confidence", 0.95, "coverage of the intervals")
	f.Uint64Var(&c.seed, "seed", defaultSeed, "seed of the resampling")
	complete(cmd, "statistic", "kendall", "spearman", "pearson", "accuracy")
	complete(cmd, "group", "none", "segment", "system")
	return cmd
}

// column is one setting to compare: where its values come from and how a row
// names it.
type column struct {
	metric, aggregate string
	signature         func(lo, hi int) string
	minRefs, maxRefs  int
	seen              bool
	stored            *dataset.StoredMetric
	storedSystems     map[string]dataset.SystemScores
	setting           refract.Setting
	metricIndex       int
	orientation       float64
}

func (c *column) references(n int) {
	if !c.seen {
		c.minRefs, c.seen = n, true
	}
	c.minRefs, c.maxRefs = min(c.minRefs, n), max(c.maxRefs, n)
}

func (c *comparer) run(ctx context.Context, e *env, args []string) error {
	stats, grouping, err := c.parseStatistics()
	if err != nil {
		return err
	}
	if _, err := c.kind(); err != nil {
		return err
	}
	run, err := c.plan(ctx, args)
	if err != nil {
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
	col, err := run.collect(ctx, ds)
	if err != nil {
		return err
	}
	if err := c.write(ctx, out, col, run.columns, stats, grouping); err != nil {
		return err
	}
	return out.Commit()
}

func (c *comparer) parseStatistics() ([]correlate.Statistic, correlate.Grouping, error) {
	grouping, err := correlate.ParseGrouping(c.grouping)
	if err != nil {
		return nil, 0, usagef("--group: %w", err)
	}
	var stats []correlate.Statistic
	for _, name := range c.statistics {
		st, err := correlate.ParseStatistic(strings.TrimSpace(name))
		if err != nil {
			return nil, 0, usagef("--statistic: %w", err)
		}
		stats = append(stats, st)
	}
	if c.bootstrap < 0 {
		return nil, 0, usagef("--bootstrap %d: want 0 or more", c.bootstrap)
	}
	if !(c.confidence > 0 && c.confidence < 1) {
		return nil, 0, usagef("--confidence %v: want a share between 0 and 1", c.confidence)
	}
	return stats, grouping, nil
}

// compareColumns are those of the comparison.
func compareColumns() []report.Column {
	return []report.Column{
		{Name: "metric"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "aggregate"},
		{Name: "human", Hide: true},
		{Name: "level"},
		{Name: "group"},
		{Name: "statistic"},
		{Name: "value", Kind: report.KindFloat, Digits: 6},
		{Name: "ci", Kind: report.KindInterval, Digits: 4},
		{Name: "n", Kind: report.KindInt},
		{Name: "missing", Kind: report.KindInt},
		{Name: "systems", Kind: report.KindInt},
		{Name: "groups", Kind: report.KindInt, Hide: true},
		{Name: "dropped", Kind: report.KindInt},
		{Name: "signature", Hide: true},
	}
}

func (c *comparer) write(ctx context.Context, out *sink, col *agreement.Collector, columns []column, stats []correlate.Statistic, grouping correlate.Grouping) error {
	human, err := col.Choose(c.human)
	if err != nil {
		return err
	}
	systems := col.Systems(human, c.includeHuman)
	if len(systems.Systems) < 2 {
		return fmt.Errorf("a comparison needs two systems or more with %s scores; there are %d", human, len(systems.Systems))
	}
	notes := c.notes(col, human, systems)
	for i := range columns {
		notes.add(fmt.Sprintf("%s %s: %s", columns[i].metric, columns[i].aggregate, columns[i].sig()))
	}
	w, err := c.table(out, compareColumns(), report.Options{Notes: notes.lines})
	if err != nil {
		return err
	}
	for k := range columns {
		p := col.Pairs(k, human, systems)
		for _, st := range stats {
			if err := c.row(ctx, w, p, &columns[k], human, st, grouping); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

func (c *comparer) row(ctx context.Context, w report.Writer, p *correlate.Pairs, col *column, human string, st correlate.Statistic, grouping correlate.Grouping) error {
	level, group := "segment", grouping
	if st == correlate.StatAccuracy {
		level, group = "system", correlate.None
	}
	res, err := correlate.Correlate(p, st, group)
	if err != nil {
		return fmt.Errorf("%s %s: %w", col.metric, col.aggregate, err)
	}
	ci := report.Null()
	if c.bootstrap > 0 && !math.IsNaN(res.Value) {
		iv, err := correlate.Bootstrap(ctx, p, st, group, correlate.BootstrapOptions{Resamples: c.bootstrap, Confidence: c.confidence, Seed: c.seed})
		if err != nil {
			return fmt.Errorf("%s %s: %w", col.metric, col.aggregate, err)
		}
		ci = report.Interval(iv.Low, iv.High)
	}
	aggregate := report.Null()
	if col.aggregate != "" {
		aggregate = report.String(col.aggregate)
	}
	present := 0
	for i := range p.GoldOK {
		if p.GoldOK[i] && p.MetricOK[i] {
			present++
		}
	}
	return w.Row(report.String(col.metric), report.Int(col.maxRefs), aggregate, report.String(human), report.String(level),
		report.String(group.String()), report.String(st.String()), report.Float(res.Value), ci,
		report.Int(res.N), report.Int(len(p.Gold)-present), report.Int(p.Systems), report.Int(res.Groups), report.Int(res.Dropped), report.String(col.sig()))
}

func (c *column) sig() string { return c.signature(c.minRefs, c.maxRefs) }

// notes says below the table what was compared and what was left out.
func (c *comparer) notes(col *agreement.Collector, human string, systems agreement.Compared) *notes {
	n := newNotes()
	n.add(fmt.Sprintf("%d segments, %d systems with %s scores: %s", col.Segments(), len(systems.Systems), human, strings.Join(systems.Systems, ", ")))
	if len(systems.Human) > 0 {
		n.add(fmt.Sprintf("left out as references scored as systems: %s (--include-references compares them)", strings.Join(systems.Human, ", ")))
	}
	if len(systems.Unjudged) > 0 {
		n.add(fmt.Sprintf("left out without a %s score: %s", human, strings.Join(systems.Unjudged, ", ")))
	}
	if c.bootstrap > 0 {
		n.add(fmt.Sprintf("ci: %g%% bootstrap over segments, %d resamples, seed %d", 100*c.confidence, c.bootstrap, c.seed))
	}
	return n
}

package command

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/benchmarks/agreement"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/metrics/judge/audit"
	"github.com/refract-eval/refract/report"
)

// comparer is one run of refract compare.
type comparer struct {
	input
	settingFlags
	judgeFlags
	output
	judgementFlags
	significanceFlags
	statistics []string
	matrix     string
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

The metric "stored" is every metric score file of an mtme: dataset, and
"stored:NAME" one of them, such as stored:COMET-22-refA. With --matrix, scores
stored by 'refract score --per cell' take the place of scoring.`,
		Example: `  refract compare mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified
  refract compare jsonl:judged.jsonl -m chrf -a single,max,mean --group segment
  refract compare mtme:data/wmt22/zh-en -m stored --statistic kendall,pearson -f markdown
  refract compare mtme:data/wmt22/zh-en -m stored --statistic acc23 --group segment --significance perm-pairs --table pairs`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), e, args) },
	}
	c.input.register(cmd)
	c.settingFlags.register(e, cmd, "single,max,mean,native")
	c.output.register(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&c.statistics, "statistic", []string{"kendall", "accuracy"}, statisticList+" (repeatable or comma-separated)")
	c.judgementFlags.register(cmd)
	c.significanceFlags.register(cmd)
	f.StringVar(&c.matrix, "matrix", "", "`FILE` of a stored matrix to take the scores from")
	grouped(cmd, inputFlags, "matrix")
	c.judgeFlags.register(cmd)
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
	systemScores      map[string]float64 // stored ones of systems; nil where there are none
	setting           int                // of the engine
	orientation       float64
}

func (c *column) references(n int) {
	if !c.seen {
		c.minRefs, c.seen = n, true
	}
	c.minRefs, c.maxRefs = min(c.minRefs, n), max(c.maxRefs, n)
}

func (c *column) sig() string { return c.signature(c.minRefs, c.maxRefs) }

// name is how people name the setting.
func (c *column) name() string {
	if c.aggregate == "" {
		return c.metric
	}
	return c.metric + " " + c.aggregate
}

func (c *column) aggregateValue() report.Value {
	if c.aggregate == "" {
		return report.Null()
	}
	return report.String(c.aggregate)
}

func (c *comparer) run(ctx context.Context, e *env, args []string) error {
	measures, err := c.measures(c.statistics...)
	if err != nil {
		return err
	}
	if err := c.significanceFlags.parse(measures); err != nil {
		return err
	}
	if _, err := c.kind(); err != nil {
		return err
	}
	run, err := c.plan(ctx, e, args)
	if err != nil {
		return err
	}
	defer run.judging.close()
	err = c.compare(ctx, e, args, run, measures)
	run.judging.done(ctx, err)
	return err
}

func (c *comparer) compare(ctx context.Context, e *env, args []string, run *compareRun, measures []correlate.Measure) error {
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
	if err := c.write(ctx, out, col, run.columns, measures); err != nil {
		return err
	}
	if err := out.Commit(); err != nil || run.gather == nil {
		return err
	}
	if err := audit.WriteTrust(e.stderr, &run.gather.Trust); err != nil {
		return err
	}
	return run.gather.covered(c.maxUnparsed)
}

// compared holds what the tables show.
type compared struct {
	columns  []column
	measures []correlate.Measure
	human    string
	systems  int
	names    []string               // of the systems
	segments []*correlate.Pairs     // of each column
	own      [][]bool               // of each measure and column: by stored scores of systems
	tables   [][]*correlate.Pairs   // of each measure and column
	results  [][]correlate.Result   // the same
	tests    []*significanceResults // of each measure; nil without a test
	notes    *notes
}

func (c *comparer) write(ctx context.Context, out *atomicfile.File, col *agreement.Collector, columns []column, measures []correlate.Measure) error {
	human, systems, err := c.choose(col)
	if err != nil {
		return err
	}
	cmp := &compared{columns: columns, measures: measures, human: human, systems: len(systems.Systems), names: systems.Systems}
	if cmp.notes, err = c.judgementFlags.notes(col, human, systems); err != nil {
		return err
	}
	if c.what == settingsTable && c.bootstrap > 0 {
		cmp.notes.add(fmt.Sprintf("ci: %g%% bootstrap over segments, %d resamples, seed %d", 100*c.confidence, c.bootstrap, c.seed))
	}
	for k := range columns {
		cmp.segments = append(cmp.segments, col.Pairs(k, human, systems))
	}
	if err := c.checkSize(cmp); err != nil {
		return err
	}
	if err := c.correlate(ctx, cmp, col); err != nil {
		return err
	}
	if c.significanceFlags.on() {
		if err := c.significanceFlags.test(ctx, cmp, c.seed); err != nil {
			return err
		}
	}
	for i := range columns {
		cmp.notes.add(columns[i].name() + ": " + columns[i].sig())
	}
	switch c.what {
	case pairsTable:
		return c.writePairs(out, cmp)
	case ranksTable:
		return c.writeRanks(out, cmp)
	}
	return c.writeSettings(ctx, out, cmp)
}

// correlate takes all measures of all columns.
func (c *comparer) correlate(ctx context.Context, cmp *compared, col *agreement.Collector) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range cmp.measures {
		cmp.tables = append(cmp.tables, make([]*correlate.Pairs, len(cmp.columns)))
		cmp.results = append(cmp.results, make([]correlate.Result, len(cmp.columns)))
		cmp.own = append(cmp.own, make([]bool, len(cmp.columns)))
		tables, results, own := cmp.tables[i], cmp.results[i], cmp.own[i]
		for k := range cmp.columns {
			group.Go(func() (err error) {
				if err := ctx.Err(); err != nil {
					return err
				}
				if tables[k], err = c.tableOf(col, m, cmp.segments[k]); err == nil {
					tables[k], own[k], err = c.storedSystems(cmp, col, m, k, tables[k])
				}
				if err == nil {
					results[k], err = m.Of(tables[k])
				}
				if err != nil {
					return fmt.Errorf("%s: %w", cmp.columns[k].name(), err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// settingsColumns are those of the table of settings.
func settingsColumns(ranked bool) []report.Column {
	columns := []report.Column{
		{Name: "metric"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "aggregate"},
		{Name: "human", Hide: true},
		{Name: "level"},
		{Name: "group"},
		{Name: "statistic"},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
	}
	if ranked {
		columns = append(columns, report.Column{Name: "rank", Kind: report.KindInt})
	}
	return append(columns,
		report.Column{Name: "n", Kind: report.KindInt},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "systems", Kind: report.KindInt, Minor: true},
		report.Column{Name: "groups", Kind: report.KindInt, Hide: true},
		report.Column{Name: "dropped", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
}

func (c *comparer) writeSettings(ctx context.Context, out *atomicfile.File, cmp *compared) error {
	var rows [][]report.Value
	notes := newNotes() // of intervals: they go last
	for k := range cmp.columns {
		for i := range cmp.measures {
			row, err := c.settingsRow(ctx, cmp, i, k, notes)
			if err != nil {
				return fmt.Errorf("%s: %w", cmp.columns[k].name(), err)
			}
			rows = append(rows, row)
		}
	}
	w, err := c.table(out, settingsColumns(cmp.tests != nil), report.Options{Notes: append(cmp.notes.lines, notes.lines...)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.Row(row...); err != nil {
			return err
		}
	}
	return w.Close()
}

func (c *comparer) settingsRow(ctx context.Context, cmp *compared, i, k int, notes *notes) (cells []report.Value, err error) {
	col, m, p, res := &cmp.columns[k], cmp.measures[i], cmp.segments[k], cmp.results[i][k]
	ci := report.Null()
	if cmp.own[i][k] {
		notes.add(storedNote(col.metric))
	} else if ci, err = c.interval(ctx, m, cmp.tables[i][k], res.Value, notes); err != nil {
		return nil, err
	}
	if m.Statistic.Calibrated() {
		notes.add(fmt.Sprintf("%v of %s: scores up to %.6g apart are tied", m.Statistic, col.name(), res.Epsilon))
	}
	row := []report.Value{
		report.String(col.metric), report.Int(col.maxRefs), col.aggregateValue(), report.String(cmp.human), report.String(c.levelOf(m).String()),
		report.String(m.Grouping.String()), report.String(m.Statistic.String()), report.Float(res.Value), ci,
	}
	if cmp.tests != nil {
		row = append(row, cmp.tests[i].rank(k))
	}
	return append(row, report.Int(res.N), report.Int(missingPairs(p)), report.Int(p.Systems),
		report.Int(res.Groups), report.Int(res.Dropped), report.String(col.sig())), nil
}

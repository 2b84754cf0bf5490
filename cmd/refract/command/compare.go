package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/files"
)

// compareRun is one run of refract compare.
type compareRun struct {
	comparison
	out   output
	table string
	plot  string
	pairs string
}

func (e *env) compareCommand() *cobra.Command {
	c := &compareRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "compare [DATASET]",
		Short: "Compare settings by their agreement with human judgements",
		Long: `Compare settings (metric and aggregator) by their agreement with human judgements.

--table pairs shows the p-values of --test for the settings of each metric, with
Holm's correction, or with --pairs all those of all metrics, and --table ranks the
ranks under all statistics. --table spans compares the errors that judges mark with
those that people marked in an mqm: dataset. --curve shows the agreement by the number of references
instead. -m stored takes every metric score file of an mtme: dataset, -m
stored:NAME one of them, and --scores a file of your own.`,
		Example: `  refract compare jsonl:expanded.jsonl -m chrf -a single,max,mean
  refract compare jsonl:expanded.jsonl --curve order,random --plot curve.svg`,
	}, cobra.MaximumNArgs(1), c.run)
	c.register(e, cmd)
	return cmd
}

// The values of --table; package experiment has the same names for all but the first.
const (
	settingsTable = "settings"
	pairsTable    = "pairs"
	ranksTable    = "ranks"
	spansTable    = "spans" // not of package experiment, and not for requests
	bothTables    = "all"   // settings and pairs, for requests
)

// The values of --pairs.
const pairsOfMetric, allPairs = "metric", "all"

var tablesCompared = []string{settingsTable, pairsTable, ranksTable}

// settingsCompared are the defaults of compare.
var settingsCompared = comparisonDefaults{groups: "none", tests: "test settings"}

func (c *compareRun) register(e *env, cmd *cobra.Command) {
	c.out.register(cmd)
	c.comparison.register(e, cmd, settingsCompared)
	tables := append(tablesCompared, spansTable)
	flag := statisticFlags.of(cmd)
	flag("table", plain(&c.table, settingsTable), "settings, pairs, ranks or spans", shown, oneOf(tables...))
	flag("pairs", c.pairsValue(), "metric or all: the pairs in --table pairs, which are corrected together", offers(pairsOfMetric, allPairs))
	flag("plot", plain(&c.plot, ""), "`FILE`.svg to draw the curves into", shown, names(writesFile))
}

// parameters are all that a request may set; flags set them, too.
func (c *compareRun) parameters() settable {
	c.Confidence = usualConfidence
	values := c.values(settingsCompared)
	maps.Copy(values, c.scoring.settingFlags.values())
	values["language"], values["table"] = c.scoring.languageFlag.value(), valueOf(&c.table, settingsTable, wordOf(append(tablesCompared, bothTables)...))
	values["pairs"], values["human_lower_is_better"] = c.pairsValue(), valueOf(&c.dataset.HumanLowerIsBetter, "", strconv.ParseBool)
	values["one_sided"] = valueOf(&c.test.OneSided, "", strconv.ParseBool)
	return values
}

func (c *compareRun) pairsValue() *parsed[string] {
	return valueOf(&c.pairs, pairsOfMetric, wordOf(pairsOfMetric, allPairs))
}

func (c *compareRun) run(ctx context.Context, e *env, args []string) error {
	p, err := c.asked(args)
	if err != nil {
		return err
	}
	out, err := e.create(c.out.path)
	if err != nil {
		return err
	}
	var drawing *files.File
	if c.plot != "" {
		if drawing, err = e.create(c.plot); err != nil {
			return err
		}
	}
	run := c.runner(e, args, p)
	if c.table == spansTable {
		if run.spans, err = c.spans(p); err != nil {
			return err
		}
	}
	return run.show(ctx, func(res *experiment.Result) error {
		if len(c.curves) > 0 && len(res.Curves) == 0 && len(c.scores) > 0 {
			return errors.New("there is no curve: the files of --scores need a column reference, and segments with several references")
		}
		if len(c.curves) > 0 && len(res.Curves) == 0 {
			return errors.New("every segment has only one reference, so there is no curve")
		}
		e.suggestNext(c.out.path, e.words("report", args, "-o", "report.html")...)
		t := (*report.NamedTable)(nil)
		if run.spans == nil {
			t = c.view(res)
		} else if t, err = run.spans.Table(ctx, p.Bootstrap); err != nil {
			return err
		}
		if err := c.out.whole(out, t); err != nil || drawing == nil {
			return err
		}
		if err := drawCurves(drawing, conclusions.Of(res).Figures()); err != nil {
			return fmt.Errorf("%s: plot: %w", c.plot, err)
		}
		return nil
	})
}

// drawCurves draws figures as one picture, with the metric above each panel.
func drawCurves(w io.Writer, figures []page.Figure) error {
	var panels []figure.Panel
	for _, f := range figures {
		for _, p := range f.Panels {
			if lines, ok := p.(*figure.Lines); ok {
				lines.Title, _, _ = strings.Cut(f.Title, ": ")
			}
			panels = append(panels, p)
		}
	}
	return figure.Draw(w, figure.Style{}, panels...)
}

// asked is the plan that the flags describe.
func (c *compareRun) asked(args []string) (*experiment.Plan, error) {
	p, err := c.plan("", args)
	if err != nil {
		return nil, err
	}
	if len(c.curves) > 0 {
		return p, c.askCurves(p)
	}
	switch {
	case c.plot != "" || len(c.counts) > 0:
		return nil, usagef("--plot and -k need a curve: say how references are chosen, such as --curve order,random")
	case c.against != "" && !c.showsPairs():
		return nil, usagef("--against needs --table pairs and a test, such as --test auto")
	case c.against != "" && c.pairs == allPairs:
		return nil, usagef("--against says which pairs there are: leave --pairs all out")
	case c.table == spansTable:
		p.Test.Resamples = 0
		return p, nil
	case !c.tested && c.table != settingsTable:
		return nil, usagef("--table %s needs a test: choose one by --test, such as auto", c.table)
	case !c.tested && c.test.OneSided:
		return nil, usagef("one-sided p-values need a test, such as --test perm-both,one-sided")
	case !c.tested:
		return p, nil
	}
	p.AcrossMetrics = c.pairs == allPairs
	// A test that ends early has p-values too coarse for a correction over many pairs.
	if p.Pairing = experiment.EveryPair; !c.showsPairs() {
		p.Test.Block = earlyBlock
	}
	return p, nil
}

// earlyBlock is mt-metrics-eval's: the number of resamples after which a test checks
// whether it is decided.
const earlyBlock = 100

func (c *compareRun) showsPairs() bool { return c.table == pairsTable || c.table == bothTables }

// askCurves turns a plan into one of only curves.
func (c *compareRun) askCurves(p *experiment.Plan) error {
	const randomOrders = 20
	switch {
	case c.tested || c.table != settingsTable:
		return usagef("--curve has its own table, and tests nothing: leave --test and --table out")
	case slices.ContainsFunc(c.scoring.metrics, isStored):
		return usagef("--curve needs scores against single references: take --matrix, or --scores with a column reference, as -m stored has none")
	case c.plot != "" && filepath.Ext(c.plot) != ".svg":
		return usagef("--plot %s: want a name that ends in .svg", c.plot)
	}
	some, err := c.addCurves(p, randomOrders)
	if err == nil && !some {
		err = usagef("--curve needs an aggregator that combines the scores of several references, such as -a max")
	}
	p.Sets = nil
	return err
}

// spans reads the errors that people marked, and the reports among the files of --scores.
func (c *compareRun) spans(p *experiment.Plan) (*audit.Spans, error) {
	ratings, err := dataset.ReadMQM(p.Datasets[0].Spec, nil) // the dataset reports the warnings
	if err != nil {
		return nil, err
	}
	if len(ratings) == 0 {
		return nil, usagef("--table spans needs errors that people marked, which only an mqm: dataset has")
	}
	spans := audit.NewSpans(ratings)
	for _, f := range p.Datasets[0].Scores {
		in, err := os.Open(f.Path)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(spans.Read(f.Name, f.Path, in), in.Close()); err != nil {
			return nil, err
		}
	}
	return spans, nil
}

// view is the table that the flags ask for.
func (c *compareRun) view(res *experiment.Result) *report.NamedTable {
	name := c.table
	switch {
	case len(c.curves) > 0:
		name = "curve"
	case name == settingsTable:
		name = "rows"
	}
	t, err := conclusions.Of(res).Table(name)
	if err != nil {
		panic(err) // a bug: --table takes only names of tables
	}
	about := &report.NamedTable{}
	c.describe(about, &res.Datasets[0])
	t.Coverage, t.Notes = "", slices.Concat(about.Notes, t.Notes, res.Notes)
	return t
}

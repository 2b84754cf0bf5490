package command

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
)

// experimentRun is one run of refract experiment.
type experimentRun struct {
	out    output
	judges judgeFlags
	table  string
	plot   string
}

func (e *env) experimentCommand() *cobra.Command {
	x := &experimentRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "experiment FILE.yaml",
		Short: "Compare references, metrics and aggregators as a file describes",
		Long: `Compare datasets × sets of references × metrics × aggregators × statistics as a
file describes.

Every metric scores every reference once. --cache keeps the scores of metrics on
servers and of programs, so that a second run asks for new ones only.

The result is a document in Markdown, or all of its numbers with -f json.
--table writes one of its tables:
` + strings.Join(conclusions.TableNames(), ", ") + `.`,
		Example: `  refract experiment experiment.yaml -o results.md --plot figures
  refract experiment experiment.yaml --table differences -f csv`,
	}, cobra.ExactArgs(1), x.run)
	x.out.register(cmd)
	x.judges.register(cmd)
	format, flag := cmd.Flag("format"), resultFlags.of(cmd)
	format.Usage = "markdown or json; with --table also table, jsonl, csv, tsv or latex; without it, by the extension of -o"
	format.DefValue = string(report.Markdown)
	flag("table", plain(&x.table, ""), "write only this table", shown, offers(conclusions.TableNames()...))
	flag("plot", plain(&x.plot, ""), "new or empty `DIR` to draw the figures into, as SVG", shown, names(writesFile))
	return cmd
}

func (r *experimentRun) run(ctx context.Context, e *env, args []string) error {
	if !r.out.formatGiven && r.table == "" && filepath.Ext(r.out.path) == "" {
		r.out.format = report.Markdown
	}
	format := r.out.format
	switch {
	case r.table == "" && format != report.Markdown && format != report.JSON:
		return usagef("a whole result is markdown or json, not %s; choose one of its tables with --table", format)
	case r.table != "" && !slices.Contains(conclusions.TableNames(), r.table):
		return usagef("--table: %s", english.Unknown("table", r.table, conclusions.TableNames()))
	}
	run, err := r.judges.planOf(e, args[0])
	if err != nil {
		return err
	}
	out, err := e.create(r.out.path)
	if err != nil {
		return err
	}
	figures, err := e.createFolder(r.plot)
	if err != nil {
		return err
	}
	return run.show(ctx, func(res *experiment.Result) error {
		if err := r.write(e, out, res); err != nil || figures == nil {
			return err
		}
		return conclusions.DrawFigures(figures.Write, conclusions.Of(res).Figures())
	})
}

// tableAsks says what fills a table that is empty in most experiments.
var tableAsks = map[string]string{
	"tasks": "tasks in the file", "curve": "curves in the file", "prompts": "analyses: [prompts] in the file",
	"worth": "analyses: [worth] in the file", "ranking": "analyses: [ranking] in the file", "labels": "analyses: [labels] in the file, and segments without a judgement",
	"pairs": "'refract compare --test'; an experiment has --table differences", "ranks": "'refract compare --test'; an experiment has --table differences",
}

func (r *experimentRun) write(e *env, w io.Writer, res *experiment.Result) error {
	switch {
	case r.table != "":
		t, err := conclusions.Of(res).Table(r.table)
		if err != nil {
			return err
		}
		if asks := tableAsks[r.table]; len(t.Rows) == 0 && asks != "" {
			e.note("the table %s has no rows: it takes %s", r.table, asks)
		}
		return r.out.whole(w, t)
	case r.out.format == report.JSON:
		enc := json.NewEncoder(jsonline.Escaping{To: w})
		enc.SetIndent("", "  ")
		return enc.Encode(conclusions.Of(res))
	}
	return conclusions.Of(res).WriteMarkdown(w)
}

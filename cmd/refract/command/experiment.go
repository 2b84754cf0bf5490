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
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/internal/suggest"
)

// experimenter is one run of refract experiment.
type experimenter struct {
	out     output
	judges  judgeFlags
	store   string
	table   string
	figures string
}

func (e *env) experimentCommand() *cobra.Command {
	x := &experimenter{}
	cmd := &cobra.Command{
		Use:   "experiment FILE.yaml",
		Short: "Compare references, metrics and aggregators as a file describes",
		Long: `Run an experiment: datasets × sets of references × metrics × aggregators ×
statistics, with intervals, tests, curves, what each prompt is worth, the ranking
of systems, and verdicts in plain language.

Every metric scores every reference once. --store keeps scores and statistics by
the hash of what they are made of: a second run computes only what changed.
Paths in the file start from its folder.

The result is a document in Markdown, or all of its numbers with -f json or
-o FILE.json. --table writes one of its tables:
` + strings.Join(experiment.TableNames(), ", ") + `.`,
		Example: `  refract experiment wmt22.yaml
  refract experiment wmt22.yaml -o report.md --figures figures
  refract experiment wmt22.yaml -o results.json
  refract experiment wmt22.yaml --table differences -f csv`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), e, args[0]) },
	}
	x.out.register(cmd)
	x.judges.register(cmd)
	f := cmd.Flags()
	f.Lookup("format").Usage = "markdown or json; with --table also table, jsonl, csv, tsv or latex; without it, by the extension of -o"
	f.Lookup("format").DefValue = string(report.Markdown)
	f.StringVar(&x.store, "store", "", "`DIR` for scores and statistics (default FILE.cells next to the file)")
	f.StringVar(&x.table, "table", "", "write only this table")
	f.StringVar(&x.figures, "figures", "", "new or empty `DIR` to draw the figures into, as SVG")
	isNamed(cmd, "store")
	grouped(cmd, resultFlags, "store", "table", "figures")
	complete(cmd, "table", experiment.TableNames()...)
	return cmd
}

// kind is the format of the output.
func (x *experimenter) kind() (report.Format, error) {
	if !x.out.formatGiven && x.table == "" && filepath.Ext(x.out.path) == "" {
		x.out.format = report.Markdown
	}
	f := x.out.format
	if x.table == "" && f != report.Markdown && f != report.JSON {
		return "", usagef("a whole result is markdown or json, not %s; choose one of its tables with --table", f)
	}
	if x.table != "" && !slices.Contains(experiment.TableNames(), x.table) {
		return "", usagef("--table: %s", suggest.Unknown("table", x.table, experiment.TableNames()))
	}
	return f, nil
}

func (x *experimenter) run(ctx context.Context, e *env, path string) error {
	format, err := x.kind()
	if err != nil {
		return err
	}
	run, err := x.judges.experimentRun(e, path, x.store)
	if err != nil {
		return err
	}
	out, err := e.create(x.out.path)
	if err != nil {
		return err
	}
	figures, err := e.createFolder(x.figures)
	if err != nil {
		return err
	}
	return run.show(ctx, func(res *experiment.Result) error {
		if err := x.write(out, format, res); err != nil || figures == nil {
			return err
		}
		return experiment.DrawFigures(figures.Write, res.Figures())
	})
}

func (x *experimenter) write(w io.Writer, format report.Format, res *experiment.Result) error {
	switch {
	case x.table != "":
		t, err := res.Table(x.table)
		if err != nil {
			return err
		}
		return t.Write(w, format, x.out.wide)
	case format == report.JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	}
	return experiment.WriteMarkdown(w, res)
}

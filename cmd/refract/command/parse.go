package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// parseRun is one run of refract parse.
type parseRun struct {
	out    output
	policy judge.Policy
}

func (e *env) parseCommand() *cobra.Command {
	p := &parseRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "parse METRIC FILE",
		Short: "Read answers that a judge gave elsewhere",
		Long: `Read answers that a judge gave elsewhere, and write a row with score and errors
for each.

METRIC is a judge that 'refract metrics' lists, or judge-file:FILE.yaml. FILE is
JSON Lines; - is standard input. A row has "output", the model's answer or null,
and may have "hypothesis", "source", "reference", "id", "system" and "segment".`,
		Example: `  refract parse instructscore outputs.jsonl -o reports.jsonl
  refract parse tigerscore outputs.jsonl --unparseable zero`,
	}, cobra.ExactArgs(2), p.run)
	p.out.registerLines(cmd)
	policies := []string{"exclude", "zero", "fail"}
	taskFlags.of(cmd)("unparseable", valueOf(&p.policy, "exclude", judge.ParsePolicy), unparseableUsage(policies), shown, offers(policies...))
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return append(judge.Names(), judge.FileMetric+":"), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

func (p *parseRun) run(ctx context.Context, e *env, args []string) error {
	metric, file := args[0], args[1]
	reading, err := audit.NewReading(metric, p.policy, e.registry().Names()...)
	switch {
	case english.IsUnknown(err, "judge"):
		return usagef("%w", err)
	case err != nil:
		return usagef("%s: %w", metric, err)
	}
	reading.At = func(name string, line int, err error) error {
		return &dataset.Error{Pos: refract.Position{File: name, Line: line}, Err: err}
	}
	in, name, err := e.datasetOptions().OpenText(ctx, file)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := e.create(p.out.path)
	if err != nil {
		return err
	}
	sum, err := reading.Copy(ctx, out, name, in)
	if err != nil {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	return p.summarize(e, reading, sum)
}

// summarize shows what became of the rows.
func (p *parseRun) summarize(e *env, reading *audit.Reading, sum *audit.Totals) error {
	if err := audit.WriteTrust(e.noteWriter(), &sum.Trust); err != nil {
		return err
	}
	all := sum.Trust.Total(reading.Metric)
	lacking := all.Reports() - all.WithScore()
	e.note("%s: %d with a score, %d without", english.Count(all.Reports(), "answer"), all.WithScore(), lacking)
	if sum.Substituted > 0 {
		value, _ := reading.Policy.Counts(analysis.Unparseable)
		e.note("counted as %v, with \"substituted\" in the row: %d of those", value, sum.Substituted)
	}
	if n := sum.WithoutText; n > 0 {
		e.note("no \"hypothesis\", so that errors cannot be located and only their numbers are checked: %s", english.Count(n, "row"))
	}
	return nil
}

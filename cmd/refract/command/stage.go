package command

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/report"
)

// stageCommand holds the commands that stand in a pipe of an engine.
func (e *env) stageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage",
		Short: "Be a step in a pipe of Spark, Beam, Ray or xargs",
		Long: `Be a step in a pipe of another program's: Spark's rdd.pipe, Beam, Ray or xargs.
A stage reads segments on standard input, as JSON Lines with all systems of a
segment on its line, and writes results on standard output, with nothing else
there. No input gives no output. An exit code other than 0 says that the output
is not whole: have the engine drop it and run the step again. What was paid for
is in --cache, which is best a Postgres that all steps share.`,
		Example: `  refract stage score -m bleu -m chrf < part.jsonl > part.statistics
  cat *.statistics | refract stage merge
  refract stage expand --model my-model --base-url http://gpu:8000/v1 < part.jsonl`,
	}
	group(cmd)
	cmd.AddCommand(e.stageScoreCommand(), e.stageExpandCommand(), e.stageMergeCommand())
	return cmd
}

func (e *env) stageScoreCommand() *cobra.Command {
	s := &scorer{staged: true}
	cmd := stageOf(s.command(e), "source", "ref", "hyp", "reference", "references", "shard", "format", "wide", "output",
		"systems", "without-systems", "domain", "dry-run", "reports", "canaries", "confidence")
	s.format = report.JSONLines
	cmd.Short = "Score the segments on standard input"
	cmd.Long = `Score the segments on standard input, and write one line of JSON: statistics of all
systems, which 'refract stage merge' adds up exactly. With --per segment there is a
line for each system and segment; those of all parts, one after the other, are the
rows of one process. --per cell gives a matrix of the part. A metric that weighs
words by all references takes df=FILE here.`
	cmd.Example = `  refract stage score -m chrf < part.jsonl > part.statistics
  refract stage score -m chrf -a max --per segment < part.jsonl > rows.jsonl`
	return cmd
}

func (e *env) stageExpandCommand() *cobra.Command {
	cmd := stageOf((&expandFlags{staged: true}).command(e), "source", "ref", "hyp", "reference", "references",
		"shard", "format", "wide", "output", "dry-run", "batch", "batch-state", "batch-interval")
	cmd.Short = "Expand the references of the segments on standard input"
	cmd.Long = `Expand the references of the segments on standard input with a language model,
and write the segments with their variants: see 'refract expand'. Name the
language of the references, which one process learns from all of them. What
--complete cannot fill is a warning here, as it would come again.`
	cmd.Example = `  refract stage expand --model my-model --language de --base-url http://gpu:8000/v1 --cache postgres://db/answers < part.jsonl > expanded.jsonl`
	return cmd
}

// stageOf makes a stage of a command on datasets: the same work and flags, but
// for those that name files or say how results look.
func stageOf(whole *cobra.Command, without ...string) *cobra.Command {
	cmd := &cobra.Command{
		Use:  whole.Name(),
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := whole.RunE(cmd, []string{"jsonl:-"})
			if errors.Is(err, dataset.ErrEmpty) {
				return nil // an engine may have parts without a segment
			}
			return err
		},
	}
	whole.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(without, f.Name) {
			cmd.Flags().AddFlag(f)
		}
	})
	return cmd
}

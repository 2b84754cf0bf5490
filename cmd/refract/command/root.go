package command

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

// registry lists the metrics that the program offers.
func registry() metrics.Registry {
	return metrics.Registry{bleu.Factory(), chrf.Factory(), chrf.PlusPlusFactory(), ter.Factory()}
}

func (e *env) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "refract",
		Short: "Evaluate generated text against many references",
		Long: `Refract evaluates generated text against many references. It expands the
references of a benchmark with a language model, scores every system against
every reference, aggregates over references, and shows against human
judgements whether that is better.

Data goes to standard output, everything else to standard error.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`,
		Example: `  refract demo
  refract score --ref ref.txt --hyp mine=out.txt -m bleu -m chrf
  refract compare mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified`,
		Version:       refract.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	group(root)
	root.SetVersionTemplate("refract {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		e.demoCommand(),
		e.expandCommand(),
		e.checkCommand(),
		e.diversityCommand(),
		e.selectCommand(),
		e.scoreCommand(),
		e.compareCommand(),
		e.curveCommand(),
		e.experimentCommand(),
		e.reportCommand(),
		e.aggregateCommand(),
		e.parseCommand(),
		e.publishCommand(),
		e.metricsCommand(),
		e.judgesCommand(),
		e.promptsCommand(),
		e.cacheCommand(),
	)
	finishStandard(root)
	return root
}

// group makes a command of its subcommands: alone it shows its help, and a
// name that none of them has is wrong usage.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usagef("%s", suggest.Unknown("command", name, names))
}

// flagError adds the nearest flag to cobra's complaint about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usagef("%w", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if nearest := suggest.Nearest("--"+unknown.GetSpecifiedName(), names); nearest != "" {
		return usagef("%w; did you mean %q?", err, nearest)
	}
	return usagef("%w", err)
}

// finishStandard completes the commands that cobra adds: they have examples
// too, and an unknown name is wrong usage.
func finishStandard(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  refract help score\n  refract help cache verify"
			cmd.Args = func(_ *cobra.Command, args []string) error {
				topic, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = unknownCommand(topic, rest[0])
				}
				return err
			}
		case "completion":
			group(cmd)
			cmd.Example = "  source <(refract completion bash)"
			for _, shell := range cmd.Commands() {
				shell.Args = usageArgs(cobra.NoArgs)
				shell.Example = "  refract completion " + shell.Name()
			}
		}
	}
}

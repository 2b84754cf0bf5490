package main

import (
	"fmt"

	"github.com/spf13/cobra"

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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return &usageError{err: fmt.Errorf("%s", suggest.Unknown("command", args[0], names))}
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("refract {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err, cmd.CommandPath()}
	})
	root.AddCommand(
		e.demoCommand(),
		e.expandCommand(),
		e.scoreCommand(),
		e.compareCommand(),
		e.aggregateCommand(),
		e.metricsCommand(),
		e.promptsCommand(),
		e.cacheCommand(),
	)
	return root
}

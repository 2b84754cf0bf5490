package command

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/cider"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/neural"
	"github.com/refract-eval/refract/metrics/program"
	"github.com/refract-eval/refract/metrics/rouge"
	"github.com/refract-eval/refract/metrics/sari"
	"github.com/refract-eval/refract/metrics/similarity"
	"github.com/refract-eval/refract/metrics/ter"
)

// registry lists the metrics of the program, without judges.
func (e *env) registry() metrics.Registry {
	return e.registryOf(nil)
}

// registryOf is the registry of a run; with nil it makes no metric that asks a server.
func (e *env) registryOf(run *judging) metrics.Registry {
	lexical := metrics.Registry{bleu.Factory(), chrf.Factory(), chrf.PlusPlusFactory(), ter.Factory(), sari.Factory()}
	return slices.Concat(lexical, rouge.Factories(), cider.Factories(),
		metrics.Registry{
			neural.Factory(run.neural),
			similarity.Factory(run.embedding),
			program.Factory(e.environ, func(line string) { e.note("%s", line) }, run.tolerates),
		}, e.extra, neural.Unserved())
}

// registryWith also lists judges, whose models open provides.
func (e *env) registryWith(run *judging, open func(context.Context) (judge.Environment, error)) metrics.Registry {
	offered := e.registryOf(run)
	return append(offered, judge.Registry(open, offered.Names()...)...)
}

// The groups of commands in the help.
const (
	referencesGroup = "References"
	scoresGroup     = "Scores"
	agreementGroup  = "Agreement with human judgements"
	otherGroup      = "More"
)

func (e *env) rootCommand() *cobra.Command {
	root := &cobra.Command{
		CompletionOptions: cobra.CompletionOptions{DisableNoDescFlag: true},
		Use:               "refract",
		Short:             "Evaluate generated text against many references",
		Long: `Refract scores generated text against many references.

Data goes to standard output, everything else to standard error. Exit codes: 0
done, 1 failed, 2 wrong usage, 130 interrupted.`,
		Example: `  refract expand jsonl:sample.jsonl --model gpt-4o-mini -o expanded.jsonl
  refract check jsonl:expanded.jsonl -o checked.jsonl
  refract publish jsonl:checked.jsonl --to parquet -o published
  refract score jsonl:checked.jsonl -a single,max
  refract compare jsonl:checked.jsonl`,
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
	root.SetHelpFunc(e.showHelp)
	root.SetHelpCommand(e.helpCommand())
	flag := commonFlags.of(root)
	flag("quiet,q", plain(&e.quiet, false), "show only warnings and errors on standard error")
	flag("verbose,v", plain(&e.verbose, false), "say more: the parts of BLEU's scores, and all columns of a table, even beyond 100 characters")
	flag("progress", plain(&e.progressForm, progressText), "form of progress on standard error: text, or json, an object a line", oneOf(progressText, progressJSON))
	flag("config", plain(&e.configPath, ""), "`FILE` of flags about models, servers and budgets (default refract.yaml, if it exists)", names(readsFile))
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		e.command = cmd
		if err := cmp.Or(e.configure(cmd), complete(cmd)); err != nil {
			return err
		}
		return e.distinctPaths(cmd, args)
	}
	root.Flags().Bool("version", false, "show the version")
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{referencesGroup, []*cobra.Command{e.expandCommand(), e.checkCommand(), e.reviewCommand(), e.selectCommand(), e.publishCommand()}},
		{scoresGroup, []*cobra.Command{e.scoreCommand(), e.systemsCommand(), e.parseCommand(), e.mergeCommand()}},
		{agreementGroup, []*cobra.Command{e.compareCommand(), e.experimentCommand(), e.reportCommand()}},
		{otherGroup, []*cobra.Command{
			e.buildCommand(), e.metricsCommand(), e.promptsCommand(), e.serveCommand(), e.demoCommand(), e.cacheCommand(), e.versionCommand(),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(topics()...)
	root.SetHelpCommandGroupID(otherGroup)
	root.SetCompletionCommandGroupID(otherGroup)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finishCompletion(root)
	root.SetGlobalNormalizationFunc(alias)
	return root
}

// group makes a command that only has subcommands: it shows its help, and refuses
// unknown names.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// newCommand completes a command: which arguments it takes, and what it does.
func (e *env) newCommand(cmd *cobra.Command, takes cobra.PositionalArgs, run func(context.Context, *env, []string) error) *cobra.Command {
	cmd.Args = usageArgs(takes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), e, args) }
	return cmd
}

// finishCompletion adds examples to the command that cobra adds, and makes an unknown
// shell a usage error.
func finishCompletion(root *cobra.Command) {
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra has no such command any more
	}
	group(completion)
	completion.Example = "  source <(refract completion bash)"
	for _, shell := range completion.Commands() {
		shell.Args = usageArgs(cobra.NoArgs)
		shell.Example = "  refract completion " + shell.Name()
	}
}

// Root returns the program's command, from which man pages and completions are made. It
// is not run.
func Root() *cobra.Command {
	e := &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
	return e.rootCommand()
}

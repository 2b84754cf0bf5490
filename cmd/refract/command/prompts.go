package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
)

func (e *env) promptsCommand() *cobra.Command {
	var out output
	cmd := e.newCommand(&cobra.Command{
		Use:   "prompts [NAMES]",
		Short: "List the prompts that expand references",
		Long: `List the prompts that expand references, or those of NAMES, as --prompts of
'refract expand' takes them.

A space and the reference follow a prompt; after a full-width colon there is no
space. In a template, {reference} and {source} stand for the segment's texts.`,
		Example: `  refract prompts
  refract prompts ten@de,plain@de -f jsonl`,
	}, cobra.MaximumNArgs(1), func(_ context.Context, e *env, args []string) error {
		prompts := diversify.Prompts()
		if len(args) > 0 {
			var err error
			if prompts, err = diversify.ParsePrompts(args[0]); err != nil {
				return usagef("%w", err)
			}
		}
		t := &report.NamedTable{Columns: []report.Column{{Name: "set"}, {Name: "name"}, {Name: "language"}, {Name: "prompt"}}}
		for _, p := range prompts {
			t.Add(diversify.SetOf(p), p.Name, report.StringOrNull(p.Language), p.Text)
		}
		return out.show(e, t)
	})
	out.register(cmd)
	cmd.ValidArgsFunction = promptWords
	return cmd
}

// promptWords completes the names of prompts.
func promptWords(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return diversify.PromptWords(), cobra.ShellCompDirectiveNoFileComp
}

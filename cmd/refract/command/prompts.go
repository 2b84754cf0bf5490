package command

import (
	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/report"
)

func (e *env) promptsCommand() *cobra.Command {
	var out output
	var spec string
	cmd := &cobra.Command{
		Use:   "prompts [NAMES]",
		Short: "List the prompts that expand references",
		Long: `List the prompts that expand references: the ten of Div-Ref and its plain one,
in English and in other languages. --prompts takes the words of 'refract
expand': ten@de, order, file:prompts.yaml.

A space and the reference follow a prompt; after a full-width colon there is no
space. In a template, {reference} and {source} stand for the segment's texts.`,
		Example: `  refract prompts
  refract prompts ten@de,plain@de
  refract prompts -f jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			prompts, from := diversify.Prompts(), "--prompts: "
			if len(args) > 0 {
				if spec != "" {
					return usagef("the prompts are named twice: as %q and by --prompts", args[0])
				}
				spec, from = args[0], ""
			}
			if spec != "" {
				var err error
				if prompts, err = diversify.ParsePrompts(spec); err != nil {
					return usagef("%s%w", from, err)
				}
			}
			return out.show(e, promptTable(prompts))
		},
	}
	out.register(cmd)
	cmd.Flags().StringVar(&spec, "prompts", "", "prompts to list, as 'refract expand' takes them (default all that are built in)")
	complete(cmd, "prompts", diversify.PromptWords()...)
	return cmd
}

func promptTable(prompts []diversify.Prompt) *report.NamedTable {
	t := &report.NamedTable{Columns: []report.Column{
		{Name: "set"}, {Name: "name"}, {Name: "language"}, {Name: "prompt"},
	}}
	for _, p := range prompts {
		t.Add(diversify.SetOf(p), p.Name, report.StringOrNull(p.Language), p.Text)
	}
	return t
}

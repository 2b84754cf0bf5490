package command

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics/judge"
)

func (e *env) judgesCommand() *cobra.Command {
	var out output
	var prompt, hardened bool
	cmd := &cobra.Command{
		Use:   "judges [NAME[:OPTION=VALUE,…]]",
		Short: "List judges, or show the definition or the prompts of one",
		Long: `Judges are metrics whose scores a language model states: -m NAME, or
-m judge-file:FILE for one of your own. They call servers as 'refract expand'
does, store every answer in --cache, and ask an equal question once. An answer
that states no score is no number: --unparseable says what it counts as, and a
run fails where more than --max-unparsed of the answers have none.

Without a NAME, this command lists the built-in judges. Options in brackets may
be left out; "needs" is for their defaults. With a NAME it shows the definition,
which explains the options, and which judge-file:FILE reads. With options or
--prompt it shows what would be sent, with words in place of a segment's texts.`,
		Example: `  refract judges
  refract judges gemba-da
  refract judges gemba-da:sl=Chinese,tl=English,reference=no
  refract judges instructscore:task=mt_zh-en --hardened
  refract judges judge-file:my-judge.yaml --prompt`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if prompt || hardened {
					return usagef("--prompt and --hardened show the prompts of one judge: name it")
				}
				t, err := judgeTable()
				if err != nil {
					return err
				}
				if err := out.byExtension(); err != nil {
					return err
				}
				return out.show(e, t)
			}
			if out.formatGiven {
				return usagef("--format is for the list of judges; a definition is YAML, and prompts are text")
			}
			return e.showJudge(cmd.Context(), &out, args[0], prompt, hardened)
		},
		ValidArgsFunction: cobra.FixedCompletions(judge.Names(), cobra.ShellCompDirectiveNoFileComp),
	}
	out.registerFormat(cmd, "", "; without it, by the extension of -o")
	out.registerPath(cmd)
	cmd.Flags().BoolVar(&prompt, "prompt", false, "show what would be sent, also where no option is given")
	cmd.Flags().BoolVar(&hardened, "hardened", false, "show what the hardened form would send")
	return cmd
}

func judgeTable() (*report.NamedTable, error) {
	t := &report.NamedTable{Columns: []report.Column{
		{Name: "name"}, {Name: "options"}, {Name: "needs"},
		{Name: "lower", Kind: report.KindFloat, Minor: true}, {Name: "upper", Kind: report.KindFloat, Minor: true},
		{Name: "direction", Hide: true}, {Name: "endpoint", Hide: true}, {Name: "model"},
		{Name: "source", Hide: true}, {Name: "description"},
	}}
	for _, d := range judge.Builtin() {
		r, err := d.Sample(nil)
		if err != nil {
			return nil, err
		}
		var options []string
		for _, o := range d.Options {
			if o.Required {
				options = append(options, o.Name)
			} else {
				options = append(options, "["+o.Name+"]")
			}
		}
		info := r.Info()
		t.Add(d.Name, strings.Join(options, " "), info.Needs(), orNull(info.Lower), orNull(info.Upper), info.Direction.String(),
			string(r.Endpoint()), report.StringOrNull(d.Model), d.Source, d.Summary)
	}
	return t, nil
}

// orNull leaves out a bound that is none.
func orNull(bound float64) report.Value {
	if math.IsInf(bound, 0) {
		return report.Null()
	}
	return report.Float(bound)
}

// showJudge writes the definition of a judge, or what it would send.
func (e *env) showJudge(ctx context.Context, o *output, spec string, prompt, hardened bool) error {
	name, rest, _ := strings.Cut(spec, ":")
	options := rest != ""
	if name == judge.FileMetric {
		_, _, options = strings.Cut(rest, ",")
	} else if !slices.Contains(judge.Names(), strings.TrimSuffix(name, judge.HardenedSuffix)) {
		return usagef("%s", suggest.Unknown("judge", name, append(judge.Names(), judge.FileMetric)))
	}
	write := func(w io.Writer) error {
		d, err := e.definitionOf(name, rest)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, d.YAML())
		return err
	}
	if options || prompt || hardened {
		m, err := e.registryWith(nil, func(context.Context) (judge.Environment, error) {
			return judge.Environment{Model: judge.PlaceModel, Hardened: hardened}, nil
		}).Parse(ctx, spec)
		if err != nil {
			return usagef("%w", err)
		}
		write = func(w io.Writer) error { return m.(*judge.Judge).Show(w) }
	}
	out, err := e.create(o.path)
	if err != nil {
		return err
	}
	return write(out)
}

func (e *env) definitionOf(name, rest string) (*judge.Definition, error) {
	if name == judge.FileMetric {
		return judge.ReadDefinition(rest, e.registry().Names()...)
	}
	return judge.Find(name)
}

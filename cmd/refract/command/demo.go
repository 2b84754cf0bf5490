package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

func (e *env) demoCommand() *cobra.Command {
	var dir string
	cmd := e.newCommand(&cobra.Command{
		Use:   "demo",
		Short: "Run every step offline on a built-in sample",
		Long: `Expand, score and compare a built-in sample without network, or save the sample.

The sample has translations into English and German, summaries and captions, with
made-up systems, judgements and recorded answers; the program's authors wrote all
of it. Every command of the documentation runs in the folder that -o makes.`,
		Example: `  refract demo
  refract demo -o sample`,
	}, cobra.NoArgs, func(ctx context.Context, e *env, _ []string) error {
		if dir != "" {
			return e.writeSample(dir)
		}
		return e.demo(ctx)
	})
	taskFlags.of(cmd)("output,o", plain(&dir, ""), "`DIR` to save the sample in, instead of running it", shown)
	return cmd
}

func (e *env) demo(ctx context.Context) error {
	segments, sum, err := expandSample(ctx)
	if err != nil {
		return err
	}
	c := &comparison{}
	c.register(e, &cobra.Command{}, comparisonDefaults{groups: "none", test: "auto"})
	c.scoring.aggregators = aggregate.Default("single", "max")
	plan, err := c.plan("sample", nil)
	if err != nil {
		return err
	}
	plan.Ranking, plan.Pairing = true, experiment.WithinMetric
	run := c.runner(e, nil, plan)
	run.Open = func(experiment.Dataset) (refract.Dataset, error) { return refract.InMemory(segments), nil }
	return run.show(ctx, func(res *experiment.Result) error {
		fmt.Fprintf(e.stdout, `This shows whether metrics rank systems more as people do with eleven references
than with one. The sample has %d segments (translations, summaries, captions) with
one reference each, and outputs of %d systems, judged from 0 to 100. Ten prompts
rewrote each reference: %d recorded answers, of which the checks rejected %d.

`, sum.Segments, len(res.Rankings[0].Systems), sum.Cached, sum.Rejected)
		found := conclusions.Of(res)
		ranking, err := found.Table("ranking")
		if err == nil {
			err = ranking.WriteTitled(e.stdout)
		}
		if err != nil {
			return err
		}
		claim := found.Claim()
		for _, text := range slices.Concat([]string{claim.Text + "."}, claim.Evidence, claim.Cautions, []string{claim.Method}) {
			fmt.Fprintf(e.stdout, "\n%s\n", strings.Join(report.Wrap(text, 80), "\n"))
		}
		_, err = fmt.Fprint(e.stdout, demoEnd)
		return err
	})
}

const demoEnd = `
Go on:
  refract demo -o sample    save the sample, and texts for the commands of README
  refract expand --help          with references of your own and a model of yours

This does not show that more references help elsewhere: the texts, systems,
judgements and answers are the authors' own. README has figures of WMT22.
`

// writeSample saves the sample's files, and says how to go on.
func (e *env) writeSample(dir string) error {
	if err := saveSample(dir); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	e.note("wrote sample.jsonl and its recorded answers, and ref.txt, a.txt and other short texts to %s: the commands of README run there; without a model, continue with", dir)
	e.note("  refract cache import %s %s", in("cache.sqlite"), in("answers.jsonl"))
	e.note("  refract expand jsonl:%s --model %s --cache %s --offline -o %s", in("sample.jsonl"), sampleModel, in("cache.sqlite"), in("expanded.jsonl"))
	e.note("  refract compare jsonl:%s", in("expanded.jsonl"))
	e.note("  refract compare jsonl:%s -a max --curve random --plot %s", in("expanded.jsonl"), in("agreement.svg"))
	return nil
}

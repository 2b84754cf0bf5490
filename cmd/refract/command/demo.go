package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/report"
)

func (e *env) demoCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run every step offline on a built-in sample",
		Long: `Expand, score, aggregate and compare a sample that is part of the program:
translations into English and German, summaries and captions. The program's
authors wrote its texts, four made-up systems, judgements of them and an answer
to each of the ten prompts. No network is used.

--write saves the sample, its answers, and small texts beside them: every command
of the documentation can be tried in that folder. Some need a model server or data
of others, as they say.`,
		Example: `  refract demo
  refract demo --write sample`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" {
				return e.writeSample(dir)
			}
			return e.demo(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&dir, "write", "", "`DIR` to save the sample in, in place of running it")
	return cmd
}

func (e *env) demo(ctx context.Context) error {
	segments, sum, err := expandSample(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, `The sample: %d segments with one reference each, translated, summarized or
captioned by four systems. Ten prompts rewrote each reference: %d answers, all
recorded, no call made; %d was rejected by the checks, and %d more in its place.
Texts, systems, answers and judgements are the authors' own: they show how the
program works, not that the method does.

`, sum.Segments, sum.Cached, sum.Rejected, sum.Resampled)
	if err := e.demoComparison(ctx, dataset.InMemory(segments)); err != nil {
		return err
	}
	_, err = io.WriteString(e.stdout, demoNext)
	return err
}

const demoNext = `
With one reference, the system "fine-tuned" is punished for its own wording;
with eleven, most of what it says is found in some reference.

Go on with your own data:
  refract demo --write sample             save the sample, to see the formats
  refract expand --ref ref.txt --source src.txt --hyp a=a.txt --model MODEL -o expanded.jsonl
  refract score jsonl:expanded.jsonl -a single,max
  refract compare mtme:DIR/wmt22/zh-en --references div-ref:FILE
`

// demoComparison shows the systems' scores with one reference and with all, and
// then what 'refract compare' shows.
func (e *env) demoComparison(ctx context.Context, ds refract.Dataset) error {
	c := &comparer{}
	c.register(e, &cobra.Command{})
	p, err := c.asked(nil)
	if err != nil {
		return err
	}
	p.Ranking = true
	run := c.runner(e, nil, p)
	run.Open = func(experiment.Dataset) (refract.Dataset, error) { return ds, nil }
	return run.show(ctx, func(res *experiment.Result) error {
		if err := sampleScores(&res.Rankings[0]).WriteTitled(e.stdout); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, "\nAgreement with the judgements, under four aggregations over references:")
		return c.out.whole(e.stdout, c.view(res))
	})
}

// writeSample saves the sample's files.
func (e *env) writeSample(dir string) error {
	if err := saveSample(dir); err != nil {
		return err
	}
	e.note("wrote the sample, its answers, and what the documentation's commands read, to %s; go on with", dir)
	e.note("  refract cache import %s %s", filepath.Join(dir, "cache.sqlite"), filepath.Join(dir, "answers.jsonl"))
	e.note("  refract expand jsonl:%s --model %s --cache %s --offline -o %s",
		filepath.Join(dir, "sample.jsonl"), sampleModel, filepath.Join(dir, "cache.sqlite"), filepath.Join(dir, "expanded.jsonl"))
	e.note("  refract compare jsonl:%s", filepath.Join(dir, "expanded.jsonl"))
	return nil
}

// sampleScores are the mean scores of the systems with one reference and with all,
// next to the judgements.
func sampleScores(r *experiment.Ranking) *report.NamedTable {
	t := &report.NamedTable{Title: "Mean scores: one reference (single) and the best of eleven (max)"}
	t.Columns = []report.Column{{Name: "system"}, {Name: r.Human, Kind: report.KindFloat, Digits: 1}}
	shown := func(s experiment.SettingName) bool { return s.Aggregator == "single" || s.Aggregator == "max" }
	for _, s := range r.Settings {
		if shown(s) {
			t.Columns = append(t.Columns, report.Column{Name: s.Metric + " " + s.Aggregator, Kind: report.KindFloat, Digits: 1})
		}
	}
	for _, s := range r.Systems {
		row := []any{s.Name, s.First.Score}
		for i, p := range s.Under {
			if shown(r.Settings[i]) {
				row = append(row, p.Score)
			}
		}
		t.Add(row...)
	}
	return t
}

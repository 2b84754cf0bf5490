package command

import (
	"bytes"
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
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify/selection"
)

func (e *env) demoCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run every step offline on a built-in sample",
		Long: `Expand, score and compare a built-in sample without network, or save the sample.

The sample has translations into English and German, summaries and captions, with
made-up systems, judgements and recorded answers; the program's authors wrote all
of it. Every command of the documentation runs in the folder that -o makes.`,
		Example: `  refract demo
  refract demo -o sample`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" {
				return e.writeSample(cmd.Context(), dir)
			}
			return e.demo(cmd.Context())
		},
	}
	taskFlags.of(cmd)("output,o", plain(&dir, ""), "`DIR` to save the sample in, instead of running it", shown)
	return cmd
}

func (e *env) demo(ctx context.Context) error {
	segments, sum, err := expandSample(ctx)
	if err != nil {
		return err
	}
	c := &compareRun{}
	run, err := c.ofSample(e, segments, "single", "max")
	if err != nil {
		return err
	}
	run.Ranking = true
	return run.show(ctx, func(res *experiment.Result) error {
		r := &res.Rankings[0]
		fmt.Fprintf(e.stdout, `This shows whether metrics rank systems more as people do with eleven references
than with one. The sample has %d segments (translations, summaries, captions) with
one reference each, and outputs of %d systems, judged from 0 to 100. Ten prompts
rewrote each reference: %d recorded answers, of which the checks rejected %d.

`, sum.Segments, len(r.Systems), sum.Cached, sum.Rejected)
		if err := sampleScores(r).WriteTitled(e.stdout); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.stdout, demoEnd, strings.Join(report.Wrap(sampleResult(r), 80), "\n"))
		return err
	})
}

const demoEnd = `
%s

Go on:
  refract demo -o sample    save the sample, a picture, and texts for the commands of README
  refract expand --help          with references of your own and a model of yours

This does not show that more references help elsewhere: the texts, systems,
judgements and answers are the authors' own. README has figures of WMT22.
`

// ofSample compares aggregations of the expanded sample as 'refract compare' does.
func (c *compareRun) ofSample(e *env, segments []*refract.Segment, aggregators ...string) (*planRun, error) {
	c.register(e, &cobra.Command{})
	c.score.aggregators, c.resamples = aggregate.Default(aggregators...), 0
	p, err := c.asked(nil)
	if err != nil {
		return nil, err
	}
	run := c.runner(e, nil, p)
	run.Open = func(experiment.Dataset) (refract.Dataset, error) { return refract.InMemory(segments), nil }
	return run, nil
}

// writeSample saves the sample's files and a picture.
func (e *env) writeSample(ctx context.Context, dir string) error {
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := saveSample(dir); err != nil {
		return err
	}
	segments, _, err := expandSample(ctx)
	if err != nil {
		return err
	}
	c := &compareRun{}
	c.curves = []selection.Method{selection.ByRandom}
	run, err := c.ofSample(e, segments, "max")
	if err != nil {
		return err
	}
	err = run.show(ctx, func(res *experiment.Result) error {
		var picture bytes.Buffer
		figures := slices.DeleteFunc(conclusions.Of(res).Figures(), func(f page.Figure) bool { return f.Aside })
		if err := drawCurves(&picture, figures); err != nil {
			return err
		}
		return writeNew(in("agreement.svg"), picture.Bytes())
	})
	if err != nil {
		return err
	}
	e.note("wrote sample.jsonl and its recorded answers, agreement.svg (the agreement by the number of references), and ref.txt, a.txt and other short texts to %s: the commands of README run there; without a model, continue with", dir)
	e.note("  refract cache import %s %s", in("cache.sqlite"), in("answers.jsonl"))
	e.note("  refract expand jsonl:%s --model %s --cache %s --offline -o %s", in("sample.jsonl"), sampleModel, in("cache.sqlite"), in("expanded.jsonl"))
	e.note("  refract compare jsonl:%s", in("expanded.jsonl"))
	return nil
}

// sampleScores has mean scores and ranks of the systems, with one reference and with
// all, next to the judgements.
func sampleScores(r *experiment.Ranking) *report.NamedTable {
	t := &report.NamedTable{Title: "Mean of segments (and place), with one reference (single) and the best of eleven (max)"}
	t.Columns = []report.Column{{Name: "system"}, {Name: "judged", Kind: report.KindFloat, Digits: 1}}
	for _, s := range r.Settings {
		t.Columns = append(t.Columns, report.Column{Name: s.Metric + " " + s.Aggregator})
	}
	for _, s := range r.Systems {
		row := []any{s.Name, s.First.Score}
		for _, p := range s.Under {
			row = append(row, fmt.Sprintf("%5.1f (%v)", p.Score, p.Rank))
		}
		t.Add(row...)
	}
	return t
}

// sampleResult sums up the table: how many pairs of systems each metric orders as the
// judgements do, and where the best system ranks.
func sampleResult(r *experiment.Ranking) string {
	var pairs, moves []string
	n := len(r.Systems) * (len(r.Systems) - 1) / 2
	better, worse := false, false
	for k := 0; k+1 < len(r.Settings); k += 2 { // single and max of a metric
		metric, one, all := report.Display(r.Settings[k].Metric), agreed(r, k), agreed(r, k+1)
		better, worse = better || all > one, worse || all < one
		pairs = append(pairs, fmt.Sprintf("in %d of %d pairs by %s (%d with one)", all, n, metric, one))
		moves = append(moves, fmt.Sprintf("%v by %s (%v with one)", r.Systems[0].Under[k+1].Rank, metric, r.Systems[0].Under[k].Rank))
	}
	verdict := "more references changed nothing here"
	switch {
	case better && worse:
		verdict = "more references helped one metric here, and harmed another"
	case better:
		verdict = "more references helped here"
	case worse:
		verdict = "more references did harm here"
	}
	return fmt.Sprintf("With eleven references, the judgements' order of systems holds %s; %s, judged best, is number %s: %s.",
		strings.Join(pairs, " and "), r.Systems[0].Name, strings.Join(moves, " and "), verdict)
}

// agreed counts the pairs of systems that a setting orders as the judgements do.
func agreed(r *experiment.Ranking, setting int) (n int) {
	for i, a := range r.Systems {
		for _, b := range r.Systems[:i] {
			if a.First.Before(b.First) == a.Under[setting].Before(b.Under[setting]) {
				n++
			}
		}
	}
	return n
}

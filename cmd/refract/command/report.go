package command

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/evidence"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/diversify/selection"
)

// reportRun is one run of refract report.
type reportRun struct {
	comparison
	out     output
	prompts bool
	title   string
}

func (e *env) reportCommand() *cobra.Command {
	r := &reportRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "report [DATASET | FILE.yaml]",
		Short: "Write a report as one HTML file that people read",
		Long: `Write one HTML file that shows scores, agreement with human judgements, rankings
and every segment with its references, or the findings of an experiment.`,
		Example: `  refract report jsonl:expanded.jsonl -o report.html
  refract report experiment.yaml -o experiment.html`,
	}, cobra.MaximumNArgs(1), r.run)
	r.comparison.register(e, cmd, comparisonDefaults{
		groups: "none,segment", test: significance.MethodAuto.String(), tests: "how the settings of a metric are tested against each other", curves: selection.ByOrder.String(),
	})
	statisticFlags.of(cmd)("prompts", plain(&r.prompts, false), "say what each prompt is worth too, which takes the most time")
	r.out.registerPath(cmd)
	resultFlags.of(cmd)("title", plain(&r.title, ""), "title of the page (default the name of the data)", shown)
	return cmd
}

func (r *reportRun) run(ctx context.Context, e *env, args []string) error {
	switch {
	case (r.out.path == "" || r.out.path == "-") && e.stdoutTerminal:
		return usagef("a report is a page for a browser: name a file, such as -o report.html")
	case !slices.Contains([]string{"", ".html", ".htm"}, filepath.Ext(r.out.path)):
		return usagef("-o %s: a report is HTML, such as report.html; 'refract compare' writes tables in other formats", r.out.path)
	}
	run, err := r.planned(e, args)
	if err != nil {
		return err
	}
	shown := run.Datasets[0]
	rep := &evidence.Report{Title: cmp.Or(r.title, run.Name)}
	if len(run.Datasets) > 1 {
		rep.Shown = shown.Name
	}
	ratings, err := dataset.ReadMQM(run.Plan.Path(shown.Spec), nil) // the dataset reports the warnings
	if err != nil {
		return err
	}
	if len(ratings) > 0 && len(run.Datasets) == 1 {
		run.spans = audit.NewSpans(ratings)
	}
	run.EveryCell = true // the page shows every cell
	run.Options.Scope = refract.Auto
	run.also = func(dataset string, eng *refract.Engine, s *refract.SegmentScores) error {
		if dataset != shown.Name {
			return nil
		}
		if rep.Held == nil {
			rep.Held = evidence.Hold(eng)
		}
		return rep.Held.Add(s)
	}
	run.Done = func(d experiment.DatasetInfo) error {
		if d.Name != shown.Name || rep.Held == nil {
			return nil
		}
		e.collectAt(30) // few of the texts are left, so that collecting costs less
		return rep.Explore(ctx, d.Human, ratings)
	}
	out, err := e.create(r.out.path)
	if err != nil {
		return err
	}
	err = run.show(ctx, func(res *experiment.Result) error {
		if rep.Ended = res.Ended; res.Datasets[0].Human != "" {
			rep.Result = conclusions.Of(res)
		} else {
			rep.Chosen = conclusions.Of(res).Chosen()
			e.note("the dataset has no human scores: the report shows only scores of metrics")
		}
		if run.gather != nil && len(run.gather.Metrics()) > 0 {
			rep.More = append(rep.More, audit.TrustTable(&run.gather.Trust, ""))
			if run.spans != nil {
				t, err := run.spans.Table(ctx, run.Bootstrap)
				if err != nil {
					return err
				}
				rep.More = append(rep.More, t)
			}
		}
		return page.Write(ctx, out, rep.Document())
	})
	if err == nil && r.out.path != "" && r.out.path != "-" {
		e.note("wrote %s; open it in a browser", r.out.path)
	}
	return err
}

// planned is the plan to execute: an experiment, or a plan for the report on one
// dataset.
func (r *reportRun) planned(e *env, args []string) (*planRun, error) {
	if len(args) > 0 && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(args[0])) && !strings.Contains(args[0], ":") {
		if err := e.refuse("does nothing in a report on an experiment, whose file says what is done; leave it out", func(k *known) bool {
			return slices.Contains([]section{inputFlags, metricFlags, statisticFlags}, k.section)
		}); err != nil {
			return nil, err
		}
		return r.judges.planOf(e, args[0])
	}
	const randomOrders = 10
	p, err := r.plan(r.dataName(args), args)
	if err != nil {
		return nil, err
	}
	p.Pairing, p.Ranking, p.Prompts, p.Labels = experiment.WithinMetric, true, r.prompts, &experiment.Labels{}
	p.Sets = slices.Insert(p.Sets, 0, experiment.Set{Name: "original", BesideVariants: true})
	if _, err := r.addCurves(p, randomOrders); err != nil {
		return nil, err
	}
	if n := max(len(p.Aggregators), len(r.scores)); p.Test.Resamples > 0 && !e.command.Flags().Changed("resamples") {
		for _, st := range p.Statistics {
			if method, err := p.Test.Method.For(st.Measure, st.Level); err == nil {
				p.Test.Resamples = max(p.Test.Resamples, p.Test.Enough(1-p.Bootstrap.Confidence, max(1, n*(n-1)/2), method, 0))
			}
		}
	}
	run := r.runner(e, args, p)
	run.ScoresAlone = true
	return run, nil
}

// dataName is what the data is called in the report.
func (r *reportRun) dataName(args []string) string {
	if len(args) > 0 {
		return dataset.NameOf(args[0])
	}
	var systems []string
	named, _ := namedFiles("hyp", "out.txt", r.data.hyps) // the dataset reports what is wrong with them
	for _, h := range named {
		systems = append(systems, h.Name)
	}
	return strings.Join(systems, ", ")
}

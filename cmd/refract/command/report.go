package command

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/evidence"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/page"
)

// reporter is one run of refract report.
type reporter struct {
	scorer
	judgementFlags
	reportTests
	files      reportFiles
	experiment string
	dataset    string // of the experiment, whose segments are shown
	store      string
	title      string
	explorer   bool
}

func (e *env) reportCommand() *cobra.Command {
	r := &reporter{scorer: scorer{per: "cell", output: output{format: string(report.Table)}}} // every cell is shown
	cmd := &cobra.Command{
		Use:   "report [DATASET]",
		Short: "Write a report as one HTML file that people read",
		Long: `Score every system under every setting (a metric and an aggregator over
references), compare with human judgements where there are some, and write one
HTML file that needs no network: verdicts, tables, figures, the ranking of
systems, and every segment with its outputs, all references, which of them
decided, the n-grams that match, and what judges say.

With --experiment, the report is of what 'refract experiment FILE' finds, and
shows the segments of its first dataset, or of --dataset.

--figures and --tables write what the page shows as files of their own too.`,
		Example: `  refract report jsonl:expanded.jsonl -o report.html
  refract report mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified -o report.html
  refract report jsonl:judged.jsonl -m chrf -a single,max --tables tables -f csv,latex -o report.html
  refract report --experiment wmt22.yaml --figures figures -o report.html`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), e, cmd.Flags(), args) },
	}
	r.input.register(cmd)
	r.settingFlags.register(e, cmd, "single,max,mean,native")
	r.judgeFlags.register(cmd)
	r.judgeFlags.registerDryRun(cmd)
	r.reportTests.register(cmd)
	r.judgementFlags.register(cmd)
	r.output.registerPath(cmd)
	r.files.register(cmd)
	f := cmd.Flags()
	f.StringVar(&r.experiment, "experiment", "", "file of an experiment to report on, in place of a DATASET")
	f.StringVar(&r.dataset, "dataset", "", "name of the experiment's dataset whose segments are shown (default the first)")
	f.StringVar(&r.store, "store", "", "folder that keeps cells and statistics (default none; of an experiment FILE.cells beside it)")
	f.StringVar(&r.title, "title", "", "title of the report (default the name of the data)")
	f.BoolVar(&r.explorer, "segments", true, "show the segments with all their texts")
	grouped(cmd, taskFlags, "experiment")
	return cmd
}

func (r *reporter) run(ctx context.Context, e *env, flags *pflag.FlagSet, args []string) error {
	if err := r.files.check(); err != nil {
		return err
	}
	if (r.path == "" || r.path == "-") && e.stdoutTerminal {
		return usagef("a report is a page for a browser: name a file, such as -o report.html")
	}
	if r.experiment != "" {
		if err := onlyOfExperiment(flags, args); err != nil {
			return err
		}
		return r.write(ctx, e, r.ofExperiment)
	}
	if r.dataset != "" {
		return usagef("--dataset chooses among the datasets of an --experiment")
	}
	if err := r.reportTests.check(); err != nil {
		return err
	}
	ms, judging, err := r.metricsOf(ctx, e, &r.settingFlags)
	if err != nil {
		return err
	}
	r.judging = judging
	defer judging.close()
	err = r.ofDataset(ctx, e, args, ms)
	judging.done(ctx, err)
	return err
}

// onlyOfExperiment refuses what an experiment's file says itself.
func onlyOfExperiment(flags *pflag.FlagSet, args []string) error {
	if len(args) > 0 {
		return usagef("give either a DATASET or --experiment FILE, which names its datasets")
	}
	ofJudges := &cobra.Command{}
	new(judgeFlags).register(ofJudges)
	var err error
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "experiment", "dataset", "store", "title", "segments", "output", "figures", "tables", "format", "help":
		default:
			if ofJudges.Flags().Lookup(f.Name) != nil {
				return
			}
			err = usagef("--%s has no part in a report on an experiment, whose file says what is done; leave it out", f.Name)
		}
	})
	return err
}

// write makes a report, and its files.
func (r *reporter) write(ctx context.Context, e *env, build func(context.Context, *env) (*evidence.Report, error)) error {
	out, err := r.output.open(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	rep, err := build(ctx, e)
	if err != nil {
		return err
	}
	if !r.explorer {
		rep.WithoutSegments = true
	}
	doc, err := rep.Document(ctx)
	if err != nil {
		return err
	}
	if err := page.Write(ctx, out, doc); err != nil {
		return err
	}
	if err := r.files.write(e, rep); err != nil {
		return err
	}
	return out.Commit()
}

// ofDataset reports on one dataset.
func (r *reporter) ofDataset(ctx context.Context, e *env, args []string, ms []metrics.Metric) error {
	aggs, err := r.parseAggregators()
	if err != nil {
		return err
	}
	asked := len(aggs) > 0
	if !asked {
		aggs = aggregators("single", "max", "mean", "native")
	}
	settings, err := cross(ms, aggs, asked, scoresNative)
	if err != nil {
		return err
	}
	policy, err := r.missing()
	if err != nil {
		return err
	}
	measures, err := r.measures(r.statistics...)
	if err != nil {
		return err
	}
	ds, err := r.input.dataset(e, args, true)
	if err != nil {
		return err
	}
	if r.dryRun {
		return r.foresee(ctx, e, withSystems{ds}, ms)
	}
	name := r.dataName(args)
	err = r.write(ctx, e, func(ctx context.Context, e *env) (*evidence.Report, error) {
		eng, err := r.engine(settings, refract.Auto, policy)
		if err != nil {
			return nil, err
		}
		held := evidence.Hold(eng)
		if err := r.runEngine(ctx, e, eng, withSystems{ds}, held.Add); err != nil {
			return nil, err
		}
		rep := &evidence.Report{Title: r.titleOr(name), Held: held}
		if r.gather != nil {
			rep.More = append(rep.More, trustTable(&r.gather.Trust))
		}
		if !held.Judged() {
			if r.human != "" {
				return nil, fmt.Errorf("the dataset has no human scores named %q", r.human)
			}
			e.note("the dataset has no human scores, so that the report shows scores alone")
			return rep, nil
		}
		plan, err := r.plan(name, ms, aggs, policy, measures, held)
		if err != nil {
			return nil, err
		}
		rep.Result, err = r.compare(ctx, e, plan, ms, held)
		return rep, err
	})
	if err != nil {
		return err
	}
	return r.gather.covered(r.maxUnparsed) // the page shows what became of the answers
}

// titleOr is the title that was asked for, or one made of a name.
func (r *reporter) titleOr(name string) string {
	if r.title != "" {
		return r.title
	}
	return name
}

// dataName is what the data is called in the report: without the folders of
// this machine.
func (r *reporter) dataName(args []string) string {
	if len(args) == 0 {
		var systems []string
		for _, h := range r.hyps {
			name, _, _ := strings.Cut(h, "=")
			systems = append(systems, name)
		}
		return strings.Join(systems, ", ")
	}
	scheme, place, _ := strings.Cut(args[0], ":")
	place, _, _ = strings.Cut(place, ",")
	if place == "-" || place == "" {
		return "standard input"
	}
	place = filepath.ToSlash(filepath.Clean(place))
	parts := strings.Split(place, "/")
	keep := 1
	if scheme == "mtme" {
		keep = 2
	}
	return strings.Join(parts[max(0, len(parts)-keep):], "/")
}

// reportFormats are those of the tables beside a report.
func reportFormats(names []string) ([]report.Format, error) {
	var out []report.Format
	for _, name := range names {
		f, err := report.ParseFormat(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--format: %w", err)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, usagef("--format names no format")
	}
	return out, nil
}

package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/evidence"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
	"github.com/refract-eval/refract/report/page"
)

// reporter is one run of refract report.
type reporter struct {
	comparisonFlags
	output
	reportTests
	files      reportFiles
	experiment string
	dataset    string // of the experiment, whose segments are shown
	store      string
	title      string
	explorer   bool
}

func (e *env) reportCommand() *cobra.Command {
	r := &reporter{output: output{format: string(report.Table)}}
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
	r.reportTests.register(cmd)
	r.comparisonFlags.register(e, cmd, "single,max,mean,native")
	r.judgeFlags.registerDryRun(cmd)
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
		return r.ofExperiment(ctx, e)
	}
	if r.dataset != "" {
		return usagef("--dataset chooses among the datasets of an --experiment")
	}
	p, err := r.ask(r.dataName(args), args)
	if err != nil {
		return err
	}
	if r.dryRun {
		return r.foresee(ctx, e, args, p)
	}
	run := r.runner(e, args)
	run.ScoresAlone, run.EarlyStop = true, false // every cell is shown
	if r.store != "" {
		if run.Store, err = experiment.OpenStore(r.store); err != nil {
			return err
		}
	}
	return r.write(ctx, e, func(rep *evidence.Report, write func() error) error {
		r.hold(run, rep, p.Name)
		return run.show(ctx, p, func(res *experiment.Result, _ experiment.Usage) error {
			rep.Title = r.titleOr(p.Name)
			if res.Datasets[0].Human != "" {
				rep.Result = res
			} else {
				e.note("the dataset has no human scores, so that the report shows scores alone")
			}
			if run.gather != nil {
				rep.More = append(rep.More, trustTable(&run.gather.Trust))
			}
			return write()
		})
	})
}

// hold gives a report the scored segments of a dataset.
func (r *reporter) hold(run *planRun, rep *evidence.Report, of string) {
	run.Options.Scope = refract.Auto
	run.also = func(dataset string, eng *refract.Engine, s *refract.SegmentScores) error {
		if dataset != of {
			return nil
		}
		if rep.Held == nil {
			rep.Held = evidence.Hold(eng)
		}
		return rep.Held.Add(s)
	}
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

// write makes a report, and its files, once what it shows is there.
func (r *reporter) write(ctx context.Context, e *env, build func(rep *evidence.Report, write func() error) error) error {
	out, err := e.create(r.path)
	if err != nil {
		return err
	}
	rep := &evidence.Report{WithoutSegments: !r.explorer}
	return build(rep, func() error {
		doc, err := rep.Document(ctx)
		if err != nil {
			return err
		}
		if err := page.Write(ctx, out, doc); err != nil {
			return err
		}
		return r.files.write(rep)
	})
}

// foresee prints what judges would ask for.
func (r *reporter) foresee(ctx context.Context, e *env, args []string, p *experiment.Plan) error {
	ds, err := r.input.dataset(e, args, true)
	if err != nil {
		return err
	}
	s := &scorer{settingFlags: r.settingFlags, judgeFlags: r.judgeFlags, output: r.output}
	s.settingFlags.metrics = p.Metrics
	ms, judging, err := s.metricsOf(ctx, e, &s.settingFlags)
	if err != nil {
		return err
	}
	defer judging.close()
	s.judging = judging
	return s.foresee(ctx, e, withSystems{ds}, ms)
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

// reportTests say what a report compares, and how.
type reportTests struct {
	statistics []string
	method     string
	resamples  int
	curves     []string
	analyses   []string
}

// analysisNames are what --analyses takes.
func analysisNames() []string { return []string{"ranking", "strata", "prompts"} }

// curveResamples bounds the resamples of a curve's intervals, as it has a
// table for each number of references.
const curveResamples = 200

func (t *reportTests) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&t.statistics, "statistic", []string{"kendall", "accuracy"}, statisticList+" (repeatable or comma-separated)")
	f.StringVar(&t.method, "significance", significance.MethodPermBoth.String(), strings.Join(significance.MethodNames(), ", ")+" or none: how settings are tested against the first")
	f.IntVar(&t.resamples, "resamples", 1000, "resamples of a test")
	f.StringSliceVar(&t.curves, "curve", []string{selection.ByOrder.String()}, "ways to choose 0, 1, … of the references for curves, or none: "+strings.Join(selection.MethodNames(), ", "))
	f.StringSliceVar(&t.analyses, "analyses", []string{"ranking", "strata"}, "ranking, strata, prompts or none: what else to look at")
	grouped(cmd, statisticFlags, "statistic", "significance")
	complete(cmd, "significance", append(significance.MethodNames(), "none")...)
	complete(cmd, "curve", append(selection.MethodNames(), "none")...)
	complete(cmd, "analyses", append(analysisNames(), "none")...)
}

// none reports whether a list says that there is to be nothing.
func none(list []string) bool { return len(list) == 0 || len(list) == 1 && list[0] == "none" }

// ask is the plan of a report on one dataset.
func (r *reporter) ask(name string, args []string) (*experiment.Plan, error) {
	p, err := r.plan(name, args, r.statistics, "single", "max", "mean", "native")
	if err != nil {
		return nil, err
	}
	p.Pairing = experiment.WithSingle
	p.Sets = slices.Insert(p.Sets, 0, experiment.Set{Name: string(experiment.KindOriginal), Kind: experiment.KindOriginal, BesideVariants: true})
	if r.resamples < 1 {
		return nil, usagef("--resamples %d: want 1 or more", r.resamples)
	}
	if r.method != "none" {
		method, err := significance.ParseMethod(r.method)
		if err != nil {
			return nil, usagef("--significance: %w", err)
		}
		p.Test = experiment.Test{Method: method, Resamples: r.resamples, Seed: r.seed}
	}
	if !none(r.analyses) {
		for _, name := range r.analyses {
			at := slices.Index(analysisNames(), strings.TrimSpace(name))
			if at < 0 {
				return nil, usagef("--analyses: %s", suggest.Unknown("analysis", name, analysisNames()))
			}
			*[]*bool{&p.Ranking, &p.Strata, &p.Prompts}[at] = true
		}
	}
	if none(r.curves) {
		return p, nil
	}
	// A curve is of what combines several references, and scores no cell anew.
	combining := slices.DeleteFunc(slices.Clone(p.Aggregators), func(a aggregate.Aggregator) bool { return a.Single() || a.Native() })
	for _, by := range r.curves {
		method, err := selection.ParseMethod(strings.TrimSpace(by))
		if err != nil {
			return nil, usagef("--curve: %w", err)
		}
		c := experiment.Curve{Method: method, Seeds: 1, Aggregators: combining, Resamples: min(r.bootstrap, curveResamples)}
		if method == selection.ByRandom {
			c.Seeds = 10
		}
		if len(combining) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	return p, nil
}

// ofExperiment reports on an experiment.
func (r *reporter) ofExperiment(ctx context.Context, e *env) error {
	return r.write(ctx, e, func(rep *evidence.Report, write func() error) error {
		file, err := r.readExperiment(e, r.experiment, r.store)
		if err != nil {
			return err
		}
		shown := file.Datasets[0].Name
		if r.dataset != "" {
			var names []string
			for _, d := range file.Datasets {
				names = append(names, d.Name)
			}
			if shown = r.dataset; !slices.Contains(names, shown) {
				return usagef("--dataset: %s", suggest.Unknown("dataset", r.dataset, names))
			}
		}
		if r.explorer {
			r.hold(file.planRun, rep, shown)
		}
		file.EarlyStop = false
		return file.run(ctx, func(res *experiment.Result) error {
			rep.Title, rep.Result = r.titleOr(file.Plan.Name), res
			if r.explorer && len(file.Datasets) > 1 {
				rep.Shown = shown
			}
			return write()
		})
	})
}

// reportFiles are what is written beside a report.
type reportFiles struct {
	figures, tables string
	formats         []string

	kinds []report.Format
}

func (r *reportFiles) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.figures, "figures", "", "folder for the figures, each as SVG and as PNG")
	f.StringVar(&r.tables, "tables", "", "folder for the tables")
	f.StringSliceVarP(&r.formats, "format", "f", []string{"csv"}, "formats of --tables: csv, latex, markdown, json, jsonl, tsv, table")
	complete(cmd, "format", formatNames()...)
	grouped(cmd, resultFlags, "figures")
}

func (r *reportFiles) check() error {
	for _, name := range r.formats {
		f, err := report.ParseFormat(strings.TrimSpace(name))
		if err != nil {
			return usagef("--format: %w", err)
		}
		r.kinds = append(r.kinds, f)
	}
	if len(r.kinds) == 0 {
		return usagef("--format names no format")
	}
	return nil
}

// extensions of the files of tables.
func extension(f report.Format) string {
	switch f {
	case report.JSONLines:
		return ".jsonl"
	case report.Markdown:
		return ".md"
	case report.LaTeX:
		return ".tex"
	case report.Table:
		return ".txt"
	}
	return "." + string(f)
}

// write writes the figures and tables of a report that were asked for.
func (r *reportFiles) write(rep *evidence.Report) error {
	if r.figures != "" {
		if err := writeFigures(r.figures, rep.Figures(), figure.SVG, figure.PNG); err != nil {
			return err
		}
	}
	if r.tables == "" {
		return nil
	}
	if err := os.MkdirAll(r.tables, 0o777); err != nil {
		return err
	}
	for _, t := range rep.Tables() {
		for _, f := range r.kinds {
			err := atomicfile.Write(filepath.Join(r.tables, t.Name+extension(f)), func(w io.Writer) error { return t.Write(w, f, true) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFigures draws figures into a folder, in each of the formats.
func writeFigures(dir string, figures []experiment.Figure, formats ...figure.Format) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range figures {
		for _, format := range formats {
			err := atomicfile.Write(filepath.Join(dir, f.Name+"."+string(format)), func(w io.Writer) error {
				return figure.Draw(w, figure.Style{Format: format}, f.Panels...)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

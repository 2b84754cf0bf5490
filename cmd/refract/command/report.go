package command

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/evidence"
	"github.com/refract-eval/refract/internal/page"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/internal/suggest"
)

// reporter is one run of refract report.
type reporter struct {
	comparison
	out        output
	prompts    bool
	experiment string
	dataset    string // of the experiment, whose segments are shown
	store      string
	explorer   bool
	figures    string // folders
	tables     string
	formats    []report.Format // of tables
}

func (e *env) reportCommand() *cobra.Command {
	r := &reporter{out: output{format: report.Table}}
	cmd := &cobra.Command{
		Use:   "report [DATASET]",
		Short: "Write a report as one HTML file that people read",
		Long: `Score every system under every setting (a metric and an aggregator over
references), compare with human judgements where there are some, and write one
HTML file that needs no network: what it comes to in one sentence, every
setting against the single reference, figures, tables, the ranking of systems,
and every segment with its outputs, all references, which of them decided, the
n-grams that match, and what judges say.

With --experiment, the report shows what 'refract experiment FILE' finds, and
the segments of its first dataset, or of --dataset.

--figures and --tables also write what the page shows as files.`,
		Example: `  refract report jsonl:expanded.jsonl -o report.html
  refract report mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified -o report.html
  refract report jsonl:judged.jsonl -m chrf -a single,max --tables tables -f csv,latex -o report.html
  refract report --experiment wmt22.yaml --figures figures -o report.html`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), e, cmd.Flags(), args) },
	}
	f := cmd.Flags()
	r.comparison.register(e, cmd, comparisonDefaults{
		groups: "none,segment", significance: significance.MethodPermBoth.String(), tests: "how settings are tested against the single reference", curves: selection.ByOrder.String(),
	})
	f.BoolVar(&r.prompts, "prompts", false, "say what each prompt is worth too, which takes the most time")
	grouped(cmd, statisticFlags)
	r.out.registerPath(cmd)
	f.StringVar(&r.figures, "figures", "", "new or empty `DIR` for the figures, as SVG")
	f.StringVar(&r.tables, "tables", "", "new or empty `DIR` for the tables")
	listFlag(cmd, &r.formats, "format,f", "csv", report.ParseFormat, func(f report.Format) string { return string(f) },
		"formats of --tables: csv, latex, markdown, json, jsonl, tsv, table", formatNames()...)
	f.BoolVar(&r.explorer, "segments", true, "show the segments with all their texts")
	grouped(cmd, resultFlags, "figures")
	f.StringVar(&r.experiment, "experiment", "", "`FILE` of an experiment to report on, instead of a DATASET")
	f.StringVar(&r.dataset, "dataset", "", "name of the experiment's dataset whose segments are shown (default the first)")
	f.StringVar(&r.store, "store", "", "`DIR` that keeps scores and statistics (default none; of an experiment FILE.cells next to it)")
	isNamed(cmd, "store")
	grouped(cmd, taskFlags, "experiment")
	return cmd
}

func (r *reporter) run(ctx context.Context, e *env, flags *pflag.FlagSet, args []string) error {
	switch {
	case (r.out.path == "" || r.out.path == "-") && e.stdoutTerminal:
		return usagef("a report is a page for a browser: name a file, such as -o report.html")
	case !slices.Contains([]string{"", ".html", ".htm"}, filepath.Ext(r.out.path)):
		return usagef("-o %s: a report is HTML, such as report.html; --tables DIR writes its tables in other formats", r.out.path)
	case flags.Changed("format") && r.tables == "":
		return usagef("--format is that of --tables DIR; a report is HTML")
	}
	run, shown, err := r.planned(e, flags, args)
	if err != nil {
		return err
	}
	rep := &evidence.Report{Title: run.Name, WithoutSegments: !r.explorer}
	if r.explorer || r.experiment == "" {
		hold(run, rep, shown)
	}
	if r.explorer && len(run.Datasets) > 1 {
		rep.Shown = shown
	}
	out, err := e.create(r.out.path)
	if err != nil {
		return err
	}
	figures, err := e.createFolder(r.figures)
	if err != nil {
		return err
	}
	tables := figures
	if r.tables != r.figures {
		if tables, err = e.createFolder(r.tables); err != nil {
			return err
		}
	}
	return run.show(ctx, func(res *experiment.Result) error {
		if rep.Ended = res.Ended; res.Datasets[0].Human != "" {
			rep.Result = res
		} else {
			rep.Chosen = res.Chosen()
			e.note("the dataset has no human scores, so that the report shows only scores")
		}
		if run.gather != nil && len(run.gather.Metrics()) > 0 {
			rep.More = append(rep.More, audit.TrustTable(&run.gather.Trust, ""))
		}
		if err := r.people(run, rep, shown); err != nil {
			return err
		}
		doc, err := rep.Document(ctx)
		if err != nil {
			return err
		}
		if err := page.Write(ctx, out, doc); err != nil {
			return err
		}
		if r.figures != "" {
			if err := experiment.DrawFigures(figures.Write, rep.Figures()); err != nil {
				return err
			}
		}
		if r.tables == "" {
			return nil
		}
		return writeTables(tables, rep.Tables(), r.formats)
	})
}

func writeTables(to *atomicfile.Folder, tables []*report.NamedTable, formats []report.Format) error {
	for _, t := range tables {
		for _, f := range formats {
			if err := to.Write(t.Name+f.Extension(), func(w io.Writer) error { return t.Write(w, f, true) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// people gives a report what raters marked in the outputs that it shows, where the
// dataset has that.
func (r *reporter) people(run *planRun, rep *evidence.Report, shown string) error {
	at := slices.IndexFunc(run.Datasets, func(d experiment.Dataset) bool { return d.Name == shown })
	if at < 0 || rep.Held == nil || !r.explorer {
		return nil
	}
	file, ok := dataset.MQMFile(run.Plan.Path(run.Datasets[at].Spec))
	if !ok {
		return nil
	}
	ratings, err := dataset.ReadMQM(file, nil) // the dataset has told the warnings
	rep.Held.Rated(ratings)
	return err
}

// planned is what is carried out, and the dataset of it whose segments are
// shown.
func (r *reporter) planned(e *env, flags *pflag.FlagSet, args []string) (run *planRun, shown string, err error) {
	switch {
	case r.experiment != "":
		if err := onlyOfExperiment(flags, args); err != nil {
			return nil, "", err
		}
		if run, err = r.judges.experimentRun(e, r.experiment, r.store); err != nil {
			return nil, "", err
		}
		var names []string
		for _, d := range run.Datasets {
			names = append(names, d.Name)
		}
		if shown = cmp.Or(r.dataset, names[0]); !slices.Contains(names, shown) {
			return nil, "", usagef("--dataset: %s", suggest.Unknown("dataset", shown, names))
		}
	case r.dataset != "":
		return nil, "", usagef("--dataset chooses among the datasets of an --experiment")
	default:
		p, err := r.asked(args)
		if err != nil {
			return nil, "", err
		}
		run, shown = r.runner(e, args, p), p.Name
		run.store, run.ScoresAlone = r.store, true
	}
	run.EveryCell = true // each is shown
	return run, shown, nil
}

// hold gives a report the scored segments of a dataset.
func hold(run *planRun, rep *evidence.Report, of string) {
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
		case "experiment", "dataset", "store", "segments", "output", "figures", "tables", "format", "help", "quiet", "verbose", "progress", "config":
		default:
			if ofJudges.Flags().Lookup(f.Name) != nil {
				return
			}
			err = usagef("--%s has no part in a report on an experiment, whose file says what is done; leave it out", f.Name)
		}
	})
	return err
}

// dataName is what the data is called in the report.
func (r *reporter) dataName(args []string) string {
	if len(args) == 0 {
		var systems []string
		for _, h := range r.data.hyps {
			name, _, _ := strings.Cut(h, "=")
			systems = append(systems, name)
		}
		return strings.Join(systems, ", ")
	}
	return dataset.NameOf(args[0])
}

// asked is the plan of a report on one dataset.
func (r *reporter) asked(args []string) (*experiment.Plan, error) {
	const randomOrders = 10
	p, err := r.plan(r.dataName(args), args)
	if err != nil {
		return nil, err
	}
	p.Pairing, p.Ranking, p.Prompts = experiment.WithSingle, true, r.prompts
	p.Sets = slices.Insert(p.Sets, 0, experiment.Set{Name: string(experiment.KindOriginal), Kind: experiment.KindOriginal, BesideVariants: true})
	_, err = r.addCurves(p, randomOrders)
	return p, err
}

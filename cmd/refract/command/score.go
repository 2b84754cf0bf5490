package command

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/metrics"
)

// scorer is one run of refract score.
type scorer struct {
	input
	choiceFlags
	settingFlags
	judgeFlags
	scoreView
	shardFlag
	// into, if not nil, is where scores go in place of a table of them.
	into     func(eng *refract.Engine, out io.Writer) (*sink, error)
	system   string
	canaries int
	reports  string

	judging *judging
	gather  *audit.Reports // what judges say
	pool    *guard.Pool    // nil without --canaries
	records io.Writer      // nil without --reports

	incomplete *refract.Incomplete // of a run that some metrics did not end
}

func (e *env) scoreCommand() *cobra.Command { return (&scorer{}).command(e) }

func (s *scorer) command(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "score [DATASET]",
		Short: "Score systems against all references",
		Long: `Score every system against every reference, and aggregate over references.

--per system  one score per system: under single and native the metric's own
              corpus score, where it has one (BLEU, chrF, TER); else, and with
              --system average, the mean over segments.
--per segment one score per system and segment.
--per cell    the whole matrix segment × system × reference. 'refract aggregate'
              and 'refract compare --matrix' read it from -o FILE.parquet or
              -o FILE.jsonl, and score nothing again.

A signature names the references by their content hash. Scores of segments and
cells are written as they come: the command reads the references once before,
to know the hash. Standard input and pipes have none there.`,
		Example: `  refract score --ref ref.a.txt --ref ref.b.txt --hyp mine=out.txt
  refract score jsonl:expanded.jsonl -m bleu:tokenize=intl -m chrf++ -a max,mean,best:k=3
  refract score jsonl:expanded.jsonl -m chrf --per cell -o matrix.parquet
  refract score jsonl:expanded.jsonl -m instructscore:task=mt_zh-en -a max --base-url http://localhost:8000/v1 --reports reports.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), e, args) },
	}
	s.input.register(cmd)
	s.choiceFlags.register(cmd)
	s.settingFlags.register(e, cmd, "native, or max for a metric without a rule of its own")
	s.output.register(cmd)
	s.parquet = true
	s.shardFlag.register(cmd)
	s.judgeFlags.register(cmd)
	s.judgeFlags.registerDryRun(cmd, "ask for no score: servers of oip say what they are, and programs are started")
	f := cmd.Flags()
	f.StringVar(&s.reports, "reports", "", "`FILE` for every report of a judge, as JSON Lines")
	grouped(cmd, resultFlags, "reports")
	f.IntVar(&s.canaries, "canaries", 0, "known-bad outputs with injections to plant; tells which a judge saw through")
	atLeast(cmd, 0, "canaries")
	f.StringVar(&s.per, "per", "system", "segment, system or cell")
	oneOf(cmd, "per", "segment", "system", "cell")
	s.registerScope(cmd)
	f.Float64Var(&s.confidence, "confidence", 0, "show intervals of systems' scores, as sacreBLEU does; 0.95 without a value")
	f.Lookup("confidence").NoOptDefVal = "0.95"
	isShare(cmd, "confidence")
	grouped(cmd, taskFlags, "per", "system", "confidence")
	return cmd
}

func (s *scorer) registerScope(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.system, "system", "auto", "how a system's score comes about: auto, corpus or average")
	oneOf(cmd, "system", "auto", "corpus", "average")
}

func (s *scorer) run(ctx context.Context, e *env, args []string) error {
	ms, judging, err := s.metricsOf(ctx, e, &s.settingFlags)
	if err != nil {
		return err
	}
	s.judging = judging
	defer judging.close()
	err = s.score(ctx, e, args, ms)
	judging.done(ctx, err)
	return err
}

func (s *scorer) score(ctx context.Context, e *env, args []string, ms []metrics.Metric) error {
	settings, err := s.settings(ms)
	if err != nil {
		return err
	}
	e.tellWorst(settings)
	if s.confidence != 0 && s.per != "system" {
		return usagef("--confidence gives intervals of the scores of systems: leave it out, or take --per system")
	}
	if s.per != "cell" && filepath.Ext(s.path) == ".parquet" {
		return usagef("only the matrix is stored as Parquet: add --per cell, or choose another name for -o")
	}
	ds, err := s.dataset(e, args, false)
	if err != nil {
		return err
	}
	ds = dataset.Chosen(ds, s.chosen())
	whole := ds
	if s.shard != "" {
		if err := s.wholly("confidence", "canaries", "systems", "domain"); err != nil {
			return err
		}
		if ds, err = s.cut(ctx, e, args, s.path, ds); err != nil {
			return err
		}
		if !s.dryRun {
			return s.scoreShard(ctx, e, whole, ds, settings)
		}
		return s.foresee(ctx, e, ds, settings)
	}
	if s.dryRun {
		return s.foresee(ctx, e, dataset.WithSystems(ds), settings)
	}
	eng, err := s.engine(ctx, ds, settings)
	if err != nil {
		return err
	}
	out, err := e.create(s.path)
	if err != nil {
		return err
	}
	id := refract.NewIdentity() // of the segments so far, where nothing is written before the last
	if s.per != "system" {
		if id, err = dataset.Identify(ctx, ds); err != nil {
			return err
		}
	}
	var to *sink
	if s.into != nil && s.per == "system" {
		to, err = s.into(eng, out)
	} else {
		to, err = s.sink(eng, out, id, e.verbose)
	}
	if err != nil {
		return err
	}
	if err := s.runEngine(ctx, e, eng, dataset.WithSystems(ds), id, to.add); err != nil {
		return err
	}
	if err := to.end(ctx, s.incomplete); err != nil {
		return err
	}
	if err := s.explainTo(ctx, e, out); err != nil {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	if s.incomplete != nil {
		return s.incomplete
	}
	return s.covered(s.gather)
}

// engine makes the engine of a run, with metrics that are fitted to a dataset.
func (s *scorer) engine(ctx context.Context, ds refract.Dataset, settings []refract.Setting) (*refract.Engine, error) {
	if refract.NeedsFit(settings) && !dataset.Rereadable(ds) {
		return nil, usagef("a metric that weighs words by all references reads the dataset twice: give files, and no pipe, or its option df=FILE")
	}
	settings, err := refract.Fit(ctx, ds, settings)
	if err != nil {
		return nil, err
	}
	eng, err := refract.NewEngine(settings, s.options())
	if err != nil {
		return nil, usagef("%w", err)
	}
	return eng, nil
}

// options are those of the engine.
func (s *scorer) options() refract.Options {
	o := refract.Options{Scope: refract.Averaged, Missing: s.missing, AllowNoReferences: s.allowNone, EveryCell: s.per == "cell"}
	if s.per == "system" {
		o.Scope = scopes[s.system]
	}
	return s.judging.options(o)
}

// scopes are the values of --system.
var scopes = map[string]refract.Scope{"auto": refract.Auto, "corpus": refract.Pooled, "average": refract.Averaged}

// settings crosses metrics and aggregators. Without any aggregator asked for
// it is the metric's own rule where there is one, as sacreBLEU does.
func (s *scorer) settings(ms []metrics.Metric) ([]refract.Setting, error) {
	if len(s.aggregators) > 0 {
		return cross(ms, s.aggregators, true, scoresNative)
	}
	var out []refract.Setting
	for _, m := range ms {
		def := aggregate.Default("max")[0].For(m.Info().Direction == metrics.HigherIsBetter)
		if metrics.HasNative(m) {
			def = aggregate.Must("native")
		}
		out = append(out, refract.Setting{Metric: m, Aggregator: def})
	}
	return out, nil
}

// runEngine scores a dataset, and gathers what judges say on the way. Where some
// metrics fail and others go on, the command writes what it has, and ends with
// s.incomplete. The references must be those that were there before.
func (s *scorer) runEngine(ctx context.Context, e *env, eng *refract.Engine, ds refract.Dataset, before *refract.Identity, write func(*refract.SegmentScores) error) error {
	if err := s.listen(e, eng); err != nil {
		return err
	}
	defer s.judging.answered()
	checked, id := s.per != "system" && before != nil, refract.NewIdentity()
	err := eng.Run(ctx, ds, func(seg *refract.SegmentScores) error {
		if err := s.gather.Add(seg, s.records); err != nil {
			return err
		}
		if s.pool != nil {
			s.pool.Add(audit.CanarySource(seg.Segment))
		}
		if checked {
			id.Add(seg.Segment)
		}
		return write(seg)
	})
	if err != nil && !errors.As(err, &s.incomplete) {
		return err
	}
	if checked && before.Name() != id.Name() {
		return errors.New("the references have changed while they were read; score again")
	}
	return nil
}

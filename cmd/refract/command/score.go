package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// scoring is the choice of metrics and aggregators, made by flags or by a request.
type scoring struct {
	settingFlags
	languageFlag
	scope scopeFlag
}

// parameters are all that a request may set; flags set them, too.
func (s *scoring) parameters() settable {
	values := s.values()
	values["language"], values["system"] = s.languageFlag.value(), s.scope.value()
	return values
}

// scorer is one run of refract score.
type scorer struct {
	input
	choiceFlags
	scoring
	judgeFlags
	scoreView
	shardFlag
	matrix     string
	reports    string
	statistics bool   // --per statistics: scores of systems as a line that adds up
	target     string // language of the references; "" where unknown

	judging *judging
	gather  *audit.Reports // what judges say
	failed  map[string]int // cells without a number, of metrics that have given none; -1 of the others
	several bool           // a segment has more than one reference
	// into takes the scores of systems instead of a table; may be nil.
	into func(eng *refract.Engine, out io.Writer) (*sink, error)
}

func (e *env) scoreCommand() *cobra.Command {
	s := &scorer{}
	cmd := &cobra.Command{
		Use:   "score [DATASET]",
		Short: "Score systems against all references",
		Long: `Score every system against every reference, and aggregate over references.

--per system      one score per system: the corpus score of BLEU, chrF and TER
                  if every aggregator is single or native; else, and with
                  --system average, the mean over segments
--per segment     one score per system and segment
--per cell        the matrix segment × system × reference, which --matrix of
                  score and compare reads, to aggregate without scoring again
--per statistics  one line of JSON for all systems; 'refract merge -' adds
                  such lines up`,
		Example: `  refract score --ref ref.txt --hyp mine=a.txt
  refract score jsonl:expanded.jsonl -m chrf -m bleu:tokenize=intl -a single,max`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.matrix == "" {
				return s.run(cmd.Context(), e, args)
			}
			stored, err := s.ofMatrix(cmd.Flags(), args)
			if err != nil {
				return err
			}
			return stored.run(cmd.Context(), e, s.matrix)
		},
	}
	s.register(e, cmd)
	s.parquet = true
	s.shardFlag.register(cmd)
	f := cmd.Flags()
	f.StringVar(&s.matrix, "matrix", "", "`FILE` of a stored matrix to take the scores from")
	namesFiles(cmd, readsFile, "matrix")
	grouped(cmd, inputFlags, "matrix")
	f.StringVar(&s.reports, "reports", "", "`FILE` for every report of a judge, as JSON Lines")
	namesFiles(cmd, writesFile, "reports")
	grouped(cmd, resultFlags, "reports")
	f.StringVar(&s.per, "per", "system", "segment, system, cell or statistics")
	oneOf(cmd, "per", "segment", "system", "cell", perStatistics)
	neutral(cmd, "per") // parts state it apart
	f.Float64Var(&s.confidence, "confidence", 0, "show intervals of systems' scores with coverage `P`, as sacreBLEU does")
	f.Lookup("confidence").NoOptDefVal = "0.95"
	isShare(cmd, "confidence")
	grouped(cmd, taskFlags, "per", "system", "confidence")
	return cmd
}

// register adds the flags of every command that scores systems.
func (s *scorer) register(e *env, cmd *cobra.Command) {
	s.input.register(cmd)
	s.choiceFlags.register(cmd)
	s.languageFlag.register(cmd, languageSplits, "unknown")
	s.settingFlags.register(e, cmd, "native, or max if a metric has no own rule")
	s.output.register(cmd)
	s.registerWidth(cmd)
	s.judgeFlags.register(cmd)
	s.calls.registerDryRun(cmd, "ask for no score")
	s.scope.register(cmd)
}

// scopeFlag says how the score of a system comes about.
type scopeFlag struct{ refract.Scope }

var scopes = map[string]refract.Scope{"auto": refract.Auto, "corpus": refract.Pooled, "average": refract.Averaged}

func (s *scopeFlag) value() pflag.Value {
	known := wordOf("auto", "corpus", "average")
	return valueOf(&s.Scope, "auto", func(word string) (refract.Scope, error) {
		_, err := known(word)
		return scopes[word], err
	})
}

func (s *scopeFlag) register(cmd *cobra.Command) {
	addFlag(cmd, "system", s.value(), "how a system's score comes about: auto, corpus or average", "auto", "corpus", "average")
}

func (s *scorer) run(ctx context.Context, e *env, args []string) error {
	s.from, s.to = s.languages(args)
	ms, judging, err := s.metricsOf(ctx, e, &s.settingFlags)
	if err != nil {
		return err
	}
	s.judging = judging
	defer judging.close()
	err = s.score(ctx, e, args, ms)
	if emptyPart(err, args, s.path) && (s.statistics || s.format == report.JSONLines) {
		e.note("standard input has no segment: nothing is written")
		err = nil
	}
	judging.done(ctx, err)
	return err
}

// emptyPart reports whether a command in a pipe got no segment: engines such as Spark
// have empty parts.
func emptyPart(err error, args []string, output string) bool {
	return errors.Is(err, dataset.ErrEmpty) && slices.Equal(args, []string{"jsonl:-"}) && output == ""
}

func (s *scorer) score(ctx context.Context, e *env, args []string, ms []metrics.Metric) error {
	settings, err := s.scoring.settings(ms, s.per != "cell") // cells need no aggregation
	if err != nil {
		return err
	}
	e.noteWorstReferences(settings)
	if s.per == perStatistics {
		s.per, s.statistics = "system", true
	}
	switch {
	case s.confidence != 0 && (s.per != "system" || s.statistics):
		return usagef("--confidence gives intervals of the scores of systems: leave it out, or take --per system")
	case s.per != "cell" && filepath.Ext(s.path) == ".parquet":
		return usagef("only the matrix is stored as Parquet: add --per cell, or choose another name for -o")
	case s.shard != "" && s.per == "segment" && s.format != report.JSONLines:
		return usagef("the rows of shards are JSON Lines: take -f jsonl, or name -o FILE.jsonl")
	}
	whole, err := s.dataset(e, args, false)
	if err != nil {
		return err
	}
	whole = dataset.Chosen(dataset.WithoutCanaries(whole, e.datasetOptions().Warn), s.choice)
	whole = s.localize(ctx, e, args, whole, settings)
	part := dataset.WithSystems(whole)
	if s.shard != "" { // a part may lack some systems
		if part, err = s.cut(ctx, e, args, whole, "confidence", "systems"); err != nil {
			return err
		}
	}
	if s.calls.dryRun {
		return s.foresee(ctx, e, part, settings)
	}
	if s.shard == "" {
		s.judging.segments = func() (int, bool) { return dataset.Len(whole) }
	}
	if s.statistics && s.part == nil {
		s.part = newPart("score", s.shardFlag.settings())
	}
	if s.part != nil {
		if s.part.Per = s.per; s.per == "system" {
			s.into = s.sums
		} else { // what is written are lines, whatever the merged output is
			s.format, s.formatGiven, s.parquet = report.JSONLines, true, false
		}
	}
	out, done, err := s.create(ctx, e, s.path)
	if done || err != nil {
		return err
	}
	s.path = cmp.Or(s.file, s.path)
	eng, err := s.engine(ctx, whole, settings) // fitted to the whole dataset, not to the part
	if err != nil {
		return err
	}
	id := refract.NewIdentity() // grows with the segments; used only once all are read
	if s.per != "system" || s.part != nil && s.part.Shard == 1 {
		identify := dataset.Identify
		if s.part != nil {
			identify = dataset.IdentifyParts
		}
		if id, err = identify(ctx, whole); err != nil {
			return err
		}
		if s.part != nil {
			s.part.Set = id
		}
	}
	to, err := s.sinkFor(eng, out, id, e.verbose)
	if err != nil {
		return err
	}
	ended, err := s.runEngine(ctx, e, eng, part, id, to.add)
	if err == nil && ended != nil && s.part != nil {
		err = ended // a part is written whole or not at all
	}
	if err == nil {
		err = to.end(ctx, ended)
	}
	if err == nil && s.part != nil {
		return s.endPart(e, eng)
	}
	if err != nil {
		return err
	}
	if err := s.explain(e, &s.gather.Trust, out); err != nil {
		return err
	}
	if err := e.commit(); err != nil {
		return err
	}
	if ended != nil {
		return ended
	}
	several := func(a aggregate.Aggregator) bool { return !a.Single() && !a.Native() }
	if i := slices.IndexFunc(s.aggregators, several); i >= 0 && s.per == "system" && !s.several {
		e.note("no segment has more than one reference, so that %s gives what single gives; 'refract expand' makes more", s.aggregators[i].Name())
	}
	if s.into == nil {
		more := []string{"-o", "agreement.csv"}
		if s.per == "cell" {
			more = append([]string{"--matrix", s.path}, more...)
		}
		e.suggestNext(s.path, e.words("compare", args, more...)...)
	}
	return errors.Join(allFailed(s.failed), covered(&s.gather.Trust, s.policy))
}

// count records which metrics have given a number.
func (s *scorer) count(eng *refract.Engine, seg *refract.SegmentScores) {
	for k, m := range eng.Metrics() {
		name, sc := m.Info().Name, &seg.Metrics[k]
		if s.failed[name] < 0 {
			continue
		}
		for _, st := range slices.Concat(sc.Status, sc.NativeStatus) {
			if st == metrics.Scored {
				s.failed[name] = -1
				break
			} else if st == metrics.Failed {
				s.failed[name]++
			}
		}
	}
}

// allFailed is the error about metrics that failed on everything.
func allFailed(failed map[string]int) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if n := failed[name]; n > 0 {
			errs = append(errs, fmt.Errorf("%s gave no number: all its scores failed (%d); try it by hand on one output", name, n))
		}
	}
	return errors.Join(errs...)
}

// sinkFor is where the scores of a run go.
func (s *scorer) sinkFor(eng *refract.Engine, out io.Writer, id *refract.Identity, verbose bool) (*sink, error) {
	if s.into != nil && s.per == "system" {
		return s.into(eng, out)
	}
	return s.sink(eng, out, id, verbose)
}

// engine makes the engine of a run, after fitting metrics to the dataset.
func (s *scorer) engine(ctx context.Context, ds refract.Dataset, settings []refract.Setting) (*refract.Engine, error) {
	if refract.NeedsFit(settings) && !dataset.Rereadable(ds) {
		return nil, usagef("a metric that weighs words by all references reads the dataset twice: give files instead of a pipe, or its option df=FILE")
	}
	eng, err := s.scoring.engine(ctx, ds, settings, s.per == "system", s.judging.options(refract.Options{EveryCell: s.per == "cell"}))
	if err == nil && s.per == "system" && s.part == nil {
		s.noteMeans(eng)
	}
	return eng, err
}

// engine fits metrics to a dataset, and makes the engine that scores it.
func (s *scoring) engine(ctx context.Context, ds refract.Dataset, settings []refract.Setting, systems bool, o refract.Options) (*refract.Engine, error) {
	settings, err := refract.Fit(ctx, ds, settings)
	if err != nil {
		return nil, err
	}
	o.Scope, o.Missing, o.AllowNoReferences = refract.Averaged, s.missing, s.allowNone
	if systems {
		o.Scope = s.scope.Scope
	}
	eng, err := refract.NewEngine(settings, o)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return eng, nil
}

// noteMeans notes why scores are means where sacreBLEU has a corpus score.
func (s *scorer) noteMeans(eng *refract.Engine) {
	var names []string
	for k, set := range eng.Settings() {
		_, corpus := set.Metric.(metrics.CorpusMetric)
		if corpus && !eng.Pools(k) && (set.Aggregator.Single() || set.Aggregator.Native()) && s.scope.Scope == refract.Auto {
			names = append(names, set.Metric.Info().Name)
		}
	}
	if len(names) > 0 {
		s.judging.e.note("%s: these are means over segments; -a single,native, without other aggregators, gives corpus scores", strings.Join(slices.Compact(names), ", "))
	}
}

// settings crosses metrics and aggregators. The default is the metric's own rule if it
// has one, as in sacreBLEU, where native scores are of use.
func (s *scoring) settings(ms []metrics.Metric, native bool) ([]refract.Setting, error) {
	if len(s.aggregators) > 0 {
		return cross(ms, s.aggregators, true, scoresNative)
	}
	var out []refract.Setting
	for _, m := range ms {
		def := aggregate.Default("max")[0].For(m.Info().Direction == metrics.HigherIsBetter)
		if native && metrics.HasNative(m) {
			def = aggregate.Native
		}
		out = append(out, refract.Setting{Metric: m, Aggregator: def})
	}
	return out, nil
}

// runEngine scores a dataset and gathers the reports of judges. If some metrics fail, the
// command writes what it has and returns their error. It fails if the references changed
// since they were hashed.
func (s *scorer) runEngine(ctx context.Context, e *env, eng *refract.Engine, ds refract.Dataset, before *refract.Identity, write func(*refract.SegmentScores) error) (ended *refract.Incomplete, err error) {
	s.gather, s.failed = audit.NewReports(eng.Metrics()), map[string]int{}
	if len(s.gather.Metrics()) == 0 && s.reports != "" {
		return nil, usagef("--reports needs a metric that gives reports, such as a judge ('refract metrics' lists them)")
	}
	var records io.Writer
	if s.reports != "" {
		if records, err = e.create(s.reports); err != nil {
			return nil, err
		}
	}
	defer s.judging.answered()
	checked, id := s.per != "system" && s.part == nil && before != nil, refract.NewIdentity()
	err = eng.Run(ctx, ds, func(seg *refract.SegmentScores) error {
		if err := s.gather.Add(seg, records); err != nil {
			return err
		}
		s.count(eng, seg)
		s.part.segment(seg.Segment.ID)
		s.several = s.several || seg.Segment.NumReferences() > 1
		if checked {
			id.Add(seg.Segment)
		}
		return write(seg)
	})
	if err != nil && !errors.As(err, &ended) {
		return nil, err
	}
	if checked && before.Name() != id.Name() {
		return nil, errors.New("the references changed while they were read: score again")
	}
	return ended, nil
}

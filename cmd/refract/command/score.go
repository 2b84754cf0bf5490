package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/audit"
	"github.com/refract-eval/refract/report"
)

// scorer is one run of refract score.
type scorer struct {
	input
	settingFlags
	judgeFlags
	explainFlags
	output
	per      string
	system   string
	canaries int
	coverage float64 // of intervals; 0 for none
	set      string  // name of the set of references, for rows that are written as they come

	judging *judging        // nil where no metric asks a model
	pool    *audit.Canaries // nil without --canaries
	gather  *explained      // what judges say; nil where there are none

	incomplete *refract.Incomplete // of a run that some metrics did not end
}

func (e *env) scoreCommand() *cobra.Command {
	s := &scorer{}
	cmd := &cobra.Command{
		Use:   "score [DATASET]",
		Short: "Score systems against all references",
		Long: `Score every system against every reference, and aggregate over references.

--per system  one score per system. With the aggregators single and native a
              metric's own corpus score is taken where it has one (BLEU, chrF,
              TER); otherwise, and with --system average, it is the mean over
              segments.
--per segment one score per system and segment.
--per cell    the whole matrix segment × system × reference. With
              -o FILE.parquet or -o FILE.jsonl it is stored for
              'refract aggregate' and 'refract compare --matrix', which do
              not score again.

Signatures name the set of references by its content hash. For scores of
segments and cells, which are written as they come, the references are read
beforehand to know it; of standard input and pipes there it is left out.`,
		Example: `  refract score --ref ref.a.txt --ref ref.b.txt --hyp mine=out.txt
  refract score jsonl:expanded.jsonl -m bleu:tokenize=intl -m chrf++ -a max,mean,best:k=3
  refract score jsonl:expanded.jsonl -m chrf --per cell -o matrix.parquet
  refract score jsonl:expanded.jsonl -m instructscore:task=mt_zh-en -a max --base-url http://localhost:8000/v1 --reports reports.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), e, args) },
	}
	s.input.register(cmd)
	s.settingFlags.register(e, cmd, "native, or max for a metric without a rule of its own")
	s.output.register(cmd)
	s.parquet = true
	s.judgeFlags.register(cmd)
	s.judgeFlags.registerDryRun(cmd)
	s.explainFlags.register(cmd)
	cmd.Flags().IntVar(&s.canaries, "canaries", 0, "plant so many known-bad outputs with injections, and tell which a judge saw through")
	atLeast(cmd, 0, "canaries")
	cmd.Flags().StringVar(&s.per, "per", "system", "segment, system or cell")
	cmd.Flags().StringVar(&s.system, "system", "auto", "how a system's score comes about: auto, corpus or average")
	cmd.Flags().Float64Var(&s.coverage, "confidence", 0, "intervals of the scores of systems, as sacreBLEU has them; 0.95 without a value")
	cmd.Flags().Lookup("confidence").NoOptDefVal = "0.95"
	complete(cmd, "per", "segment", "system", "cell")
	complete(cmd, "system", "auto", "corpus", "average")
	grouped(cmd, taskFlags, "per", "system", "confidence")
	return cmd
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
	scope, ok := map[string]refract.Scope{"auto": refract.Auto, "corpus": refract.Pooled, "average": refract.Averaged}[s.system]
	if !ok {
		return usagef("--system %q: want auto, corpus or average", s.system)
	}
	var do func(context.Context, *env, refract.Dataset, []refract.Setting, *atomicfile.File) error
	switch s.per {
	case "system":
		do = func(ctx context.Context, e *env, ds refract.Dataset, settings []refract.Setting, out *atomicfile.File) error {
			return s.perSystem(ctx, e, ds, settings, scope, out)
		}
	case "segment":
		do = s.perSegment
	case "cell":
		do = s.perCell
	default:
		return usagef("--per %q: want segment, system or cell", s.per)
	}
	if s.coverage != 0 && (!(s.coverage > 0 && s.coverage < 1) || s.per != "system") {
		return usagef("--confidence %v: want a share between 0 and 1, and --per system", s.coverage)
	}
	if s.per != "cell" && filepath.Ext(s.path) == ".parquet" {
		return usagef("only the matrix is stored as Parquet: add --per cell, or choose another name for -o")
	}
	ds, err := s.dataset(e, args, false)
	if err != nil {
		return err
	}
	if s.dryRun {
		return s.foresee(ctx, e, withSystems{ds}, ms)
	}
	out, err := e.create(s.path)
	if err != nil {
		return err
	}
	if s.per != "system" {
		if s.set, err = identify(ctx, ds); err != nil {
			return err
		}
	}
	if err := do(ctx, e, withSystems{ds}, settings, out); err != nil {
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
	return s.gather.covered(s.maxUnparsed)
}

// settings crosses metrics and aggregators. Without any aggregator asked for
// it is the metric's own rule where there is one, as sacreBLEU does.
func (s *scorer) settings(ms []metrics.Metric) ([]refract.Setting, error) {
	if len(s.aggregators) > 0 {
		return cross(ms, s.aggregators, true, scoresNative)
	}
	var out []refract.Setting
	for _, m := range ms {
		def := "max"
		if metrics.HasNative(m) {
			def = "native"
		}
		out = append(out, refract.Setting{Metric: m, Aggregator: mustAggregator(def)})
	}
	return out, nil
}

// engine makes the engine of a run.
func (s *scorer) engine(settings []refract.Setting, scope refract.Scope, policy aggregate.Policy) (*refract.Engine, error) {
	o := s.judging.options(refract.Options{Scope: scope, Missing: policy, AllowNoReferences: s.allowNone, EveryCell: s.earlyStop == "no" || s.per == "cell"})
	eng, err := refract.NewEngine(settings, o)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return eng, nil
}

func (s *scorer) perSystem(ctx context.Context, e *env, ds refract.Dataset, settings []refract.Setting, scope refract.Scope, out *atomicfile.File) error {
	eng, err := s.engine(settings, scope, s.missing)
	if err != nil {
		return err
	}
	acc := eng.Systems()
	if s.coverage > 0 {
		acc.Keep()
	}
	if err := s.runEngine(ctx, e, eng, ds, acc.Add); err != nil {
		return err
	}
	t := newSystemScores(acc, settings)
	t.verbose = e.verbose
	if s.coverage > 0 {
		if err := t.resample(ctx, s.coverage); err != nil {
			return err
		}
	}
	return t.write(&s.output, out)
}

func aggregateValue(s refract.Setting) report.Value { return report.StringOrNull(aggregateName(s)) }

// notes are the lines below a table.
type notes struct {
	lines []string
	seen  map[string]bool
}

func newNotes() *notes { return &notes{seen: map[string]bool{}} }

func (n *notes) add(line string) {
	if !n.seen[line] {
		n.seen[line] = true
		n.lines = append(n.lines, line)
	}
}

func segmentColumns() []report.Column {
	return []report.Column{
		{Name: "id"},
		{Name: "system"},
		{Name: "metric"},
		{Name: "aggregate"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "score", Kind: report.KindFloat, Digits: 4},
		{Name: "status"},
		{Name: "missing_references", Header: "missing refs", Kind: report.KindInt},
		{Name: "signature", Hide: true},
	}
}

func (s *scorer) perSegment(ctx context.Context, e *env, ds refract.Dataset, settings []refract.Setting, out *atomicfile.File) error {
	w, err := s.table(out, segmentColumns(), report.Options{})
	if err != nil {
		return err
	}
	eng, err := s.engine(settings, refract.Averaged, s.missing)
	if err != nil {
		return err
	}
	rows := newSegmentRows(w, eng, s.set)
	if err := s.scoreSet(ctx, e, eng, ds, rows.write); err != nil {
		return err
	}
	return w.Close()
}

// segmentRows writes one row per hypothesis and setting of each segment.
type segmentRows struct {
	w          report.Writer
	settings   []refract.Setting
	names      []string // of the metrics
	reducer    *refract.Reducer
	set        string
	signatures []map[int]string // by number of references
}

func newSegmentRows(w report.Writer, eng *refract.Engine, set string) *segmentRows {
	rows := &segmentRows{w: w, settings: eng.Settings(), reducer: eng.Reducer(), set: set}
	for _, set := range rows.settings {
		rows.names = append(rows.names, set.Metric.Info().Name)
		rows.signatures = append(rows.signatures, map[int]string{})
	}
	return rows
}

func (r *segmentRows) write(s *refract.SegmentScores) error {
	for k, set := range r.settings {
		agg := aggregateValue(set)
		for h := range s.Segment.Hypotheses {
			red, err := r.reducer.Reduce(s, k, h)
			if err != nil {
				return fmt.Errorf("segment %q, system %q: %w", s.Segment.ID, s.Segment.Hypotheses[h].System, err)
			}
			score := report.Null()
			if red.Status == metrics.Scored {
				score = report.Float(red.Value)
			}
			err = r.w.Row(report.String(s.Segment.ID), report.String(s.Segment.Hypotheses[h].System), report.String(r.names[k]), agg,
				report.Int(red.References), score, report.String(red.Status.String()), report.Int(red.Missing), report.String(r.signature(k, red.References)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *segmentRows) signature(k, references int) string {
	sig, ok := r.signatures[k][references]
	if !ok {
		sig = refract.SettingSignature(r.settings[k], metrics.Sentence, strconv.Itoa(references), r.set).String()
		r.signatures[k][references] = sig
	}
	return sig
}

// perCell writes the matrix: through the table writer for a format that was
// asked for, else as the file's name says.
func (s *scorer) perCell(ctx context.Context, e *env, ds refract.Dataset, settings []refract.Setting, out *atomicfile.File) error {
	eng, err := s.engine(settings, refract.Averaged, aggregate.Exclude)
	if err != nil {
		return err
	}
	w, err := s.matrixWriter(out)
	if err != nil {
		return err
	}
	native := slices.ContainsFunc(settings, func(set refract.Setting) bool { return set.Aggregator.Native() })
	var infos []matrix.Info
	for _, m := range eng.Metrics() {
		infos = append(infos, matrix.InfoOf(m, native, s.set))
	}
	err = s.scoreSet(ctx, e, eng, ds, func(seg *refract.SegmentScores) error { return matrix.WriteSegment(w, seg, infos) })
	if err != nil {
		return err
	}
	return w.Close()
}

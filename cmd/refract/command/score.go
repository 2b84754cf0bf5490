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
	scope refract.Scope // how the score of a system comes about
}

// values are those that requests set, too.
func (s *scoring) values() settable {
	values := s.settingFlags.values()
	values["language"], values["system"] = s.languageFlag.value(), s.scopeValue()
	return values
}

func (s *scoring) scopeValue() pflag.Value {
	return valueOf(&s.scope, "auto", func(word string) (refract.Scope, error) {
		of, err := wordOf("auto", "corpus", "average")(word)
		return map[string]refract.Scope{"corpus": refract.Pooled, "average": refract.Averaged}[of], err // else Auto
	})
}

// scoringFlags are the flags of all commands that score or compare: the data, and how it is
// scored.
type scoringFlags struct {
	data    input
	choice  choiceFlags
	scoring scoring
	judges  judgeFlags
	matrix  string // file of the scores; "" where the run makes them
}

func (f *scoringFlags) register(e *env, cmd *cobra.Command, defaultAggregates string) {
	f.data.register(cmd)
	f.choice.register(cmd)
	f.scoring.languageFlag.register(cmd, metricFlags, languageSplits, "unknown")
	f.scoring.settingFlags.register(e, cmd, defaultAggregates)
	f.judges.register(cmd)
}

// begin begins a run on the data that arguments name. Close it.
func (f *scoringFlags) begin(e *env, args []string) *judging {
	f.judges.languages = func() (from, to string) { return f.scoring.languages(args) }
	return f.judges.run(e)
}

// scoreFlags are the flags of the commands that score systems, a value for each concern.
type scoreFlags struct {
	scoringFlags
	view    scoreView
	shard   shardFlag
	per     string // what a row is about: system, segment, cell or statistics
	reports string // file for the reports of judges; "" for none
	// collect takes the scores of systems instead of a table; may be nil.
	collect func(e *env, eng *refract.Engine, out io.Writer) *sink
}

func (e *env) scoreCommand() *cobra.Command {
	s := &scoreFlags{}
	cmd := e.newCommand(&cobra.Command{
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
	}, cobra.MaximumNArgs(1), s.run)
	s.register(e, cmd)
	s.view.parquet = true
	s.shard.register(cmd)
	inputFlags.of(cmd)("matrix", plain(&s.matrix, ""), "`FILE` of a stored matrix to take the scores from", shown, names(readsFile), withMatrix)
	resultFlags.of(cmd)("reports", plain(&s.reports, ""), "`FILE` for every report of a judge, as JSON Lines", shown, names(writesFile))
	flag := taskFlags.of(cmd)
	flag("per", plain(&s.per, "system"), "segment, system, cell or statistics", shown, neutral, withMatrix, oneOf("segment", "system", "cell", perStatistics)) // parts state it apart
	flag("confidence", plain(&s.view.confidence, 0), "show intervals of systems' scores with coverage `P`, as sacreBLEU does", shown, wholly, isShare)
	cmd.Flag("confidence").NoOptDefVal = "0.95"
	shown(knownOf(cmd.Flag("system")))
	return cmd
}

// register adds the flags of every command that scores systems.
func (s *scoreFlags) register(e *env, cmd *cobra.Command) {
	s.scoringFlags.register(e, cmd, "native, or max if a metric has no own rule")
	s.view.register(cmd)
	width := func(s string) (*int, error) {
		n, err := upTo(15)(s)
		return &n, err
	}
	resultFlags.of(cmd)("width,w", valueOf(&s.view.width, "", width), "decimals of scores in tables for people (default 1, or as many as scores below 10 need)", withMatrix)
	s.judges.calls.registerDryRun(cmd, "ask for no score")
	taskFlags.of(cmd)("system", s.scoring.scopeValue(), "how a system's score comes about: auto, corpus or average", withMatrix, notByHuman, offers("auto", "corpus", "average"))
}

// run scores systems: it makes a plan from the flags, and carries it out.
func (s *scoreFlags) run(ctx context.Context, e *env, args []string) error {
	if s.matrix != "" {
		return s.ofMatrix(ctx, e, args)
	}
	judging := s.begin(e, args)
	defer judging.close()
	ms, err := judging.all(ctx, &s.scoring.settingFlags)
	if err != nil {
		return err
	}
	p := &scorePlan{scoreFlags: s, e: e, args: args, judging: judging}
	err = p.prepare(ctx, ms)
	if err == nil && s.judges.calls.dryRun {
		err = p.foresee(ctx)
	} else if err == nil {
		err = p.run(ctx)
	}
	if p.statistics || s.view.format == report.JSONLines {
		err = e.unlessEmptyPart(err, args, s.view.path)
	}
	judging.done(ctx, err)
	return err
}

// unlessEmptyPart returns the error of a command, but notes where one in a pipe got no segment: engines
// such as Spark have empty parts.
func (e *env) unlessEmptyPart(err error, args []string, output string) error {
	if errors.Is(err, dataset.ErrEmpty) && slices.Equal(args, []string{"jsonl:-"}) && output == "" {
		e.note("standard input has no segment: nothing is written")
		return nil
	}
	return err
}

// scorePlan is what is scored, and how.
type scorePlan struct {
	*scoreFlags
	e       *env
	args    []string
	judging *judging

	statistics bool // scores of systems as a line that adds up
	settings   []refract.Setting
	whole      refract.Dataset
	segments   refract.Dataset // of the whole, those that are scored
	target     string          // language of the references; "" where unknown
}

// prepare completes the plan by its settings and its dataset.
func (p *scorePlan) prepare(ctx context.Context, ms []metrics.Metric) (err error) {
	if p.settings, err = p.scoring.settings(ms, p.per != "cell"); err != nil { // cells need no aggregation
		return err
	}
	p.e.noteWorstReferences(p.settings)
	if p.per == perStatistics {
		p.per, p.statistics = "system", true
	}
	if err := p.check(); err != nil {
		return err
	}
	ds, err := p.data.dataset(p.e, p.args, false)
	if err != nil {
		return err
	}
	ds = dataset.Chosen(dataset.WithoutCanaries(ds, p.e.datasetOptions().Warn), p.choice.choice)
	p.whole = p.localize(ctx, ds)
	if p.segments = dataset.WithSystems(p.whole); p.shard.shard != "" { // a part may lack some systems
		p.segments, err = p.shard.cut(ctx, p.e, p.args, p.whole)
	}
	return err
}

// check refuses outputs that the scores do not fit.
func (p *scorePlan) check() error {
	switch {
	case p.view.confidence != 0 && (p.per != "system" || p.statistics):
		return usagef("--confidence gives intervals of the scores of systems: leave it out, or take --per system")
	case p.per != "cell" && filepath.Ext(p.view.path) == ".parquet":
		return usagef("only the matrix is stored as Parquet: add --per cell, or choose another name for -o")
	case p.shard.shard != "" && p.per == "segment" && p.view.format != report.JSONLines:
		return usagef("the rows of shards are JSON Lines: take -f jsonl, or name -o FILE.jsonl")
	}
	return nil
}

// run scores the segments, and writes the scores.
func (p *scorePlan) run(ctx context.Context) error {
	if p.shard.shard == "" {
		p.judging.segments = func() (int, bool) { return dataset.Len(p.whole) }
	}
	if p.statistics && p.shard.part == nil {
		p.shard.part = newPart("score", p.e.resultSettings())
	}
	part := p.shard.part
	if part != nil {
		if part.Per = p.per; p.per != "system" { // what is written are lines, whatever the merged output is
			p.view.format, p.view.formatGiven, p.view.parquet = report.JSONLines, true, false
		}
	}
	out, done, err := p.shard.create(ctx, p.e, p.view.path)
	if done || err != nil {
		return err
	}
	p.view.path = cmp.Or(p.shard.file, p.view.path)
	eng, err := p.engine(ctx)
	if err != nil {
		return err
	}
	id, err := p.identify(ctx)
	if err != nil {
		return err
	}
	to, err := p.sink(eng, out, id)
	if err != nil {
		return err
	}
	found, ended, err := p.score(ctx, eng, id, to.add)
	switch {
	case err != nil:
		return err
	case ended != nil && part != nil: // a part is written whole or not at all
		return ended
	}
	if err := to.end(ctx, ended); err != nil {
		return err
	}
	if part != nil {
		return p.endPart(eng, found)
	}
	return p.conclude(found, ended, out)
}

// sink is where the scores go.
func (p *scorePlan) sink(eng *refract.Engine, out io.Writer, id *refract.Identity) (*sink, error) {
	switch {
	case p.per == "system" && p.shard.part != nil:
		return p.shard.part.sums(eng), nil
	case p.collect != nil:
		return p.collect(p.e, eng, out), nil
	}
	return p.view.sink(p.per, eng, out, id, p.e.verbose)
}

// identify names the set of references where rows or a part need it at once. Otherwise the
// identity grows with the segments, and is used only once all are read.
func (p *scorePlan) identify(ctx context.Context) (*refract.Identity, error) {
	part := p.shard.part
	if p.per == "system" && (part == nil || part.Shard != 1) {
		return refract.NewIdentity(), nil
	}
	if part == nil {
		return dataset.Identify(ctx, p.whole)
	}
	id, err := dataset.IdentifyParts(ctx, p.whole)
	part.Set = id
	return id, err
}

// conclude says what judges report and what the user can do next, once the scores are
// written. It fails for metrics that failed.
func (p *scorePlan) conclude(found *metricFindings, ended *refract.Incomplete, out io.Writer) error {
	if err := p.view.explain(p.e, &found.reports.Trust, out); err != nil {
		return err
	}
	if ended != nil {
		return ended
	}
	several := func(a aggregate.Aggregator) bool { return !a.Single() && !a.Native() }
	if i := slices.IndexFunc(p.scoring.aggregators, several); i >= 0 && p.per == "system" && !found.several {
		p.e.note("no segment has more than one reference, so that %s gives what single gives; 'refract expand' makes more", p.scoring.aggregators[i].Name())
	}
	if p.collect == nil {
		more := []string{"-o", "agreement.csv"}
		if p.per == "cell" {
			more = append([]string{"--matrix", p.view.path}, more...)
		}
		next := p.e.words("compare", p.args, more...)
		for i := slices.Index(next, "--metric"); p.per == "cell" && i >= 0; i = slices.Index(next, "--metric") {
			next = slices.Delete(next, i, i+2) // the matrix has them
		}
		p.e.suggestNext(p.view.path, next...)
	}
	return errors.Join(allFailed(found.failed), covered(&found.reports.Trust, p.judges.policy))
}

// metricFindings are what a run learns about its metrics and references.
type metricFindings struct {
	reports *audit.Reports // what judges say
	failed  map[string]int // cells without a number, of metrics that have given none; -1 of the others
	several bool           // a segment has more than one reference
}

// count records which metrics have given a number.
func (f *metricFindings) count(eng *refract.Engine, seg *refract.SegmentScores) {
	f.several = f.several || seg.Segment.NumReferences() > 1
	for k, m := range eng.Metrics() {
		name, sc := m.Info().Name, &seg.Metrics[k]
		if f.failed[name] < 0 {
			continue
		}
		for _, st := range slices.Concat(sc.Status, sc.NativeStatus) {
			if st == metrics.Scored {
				f.failed[name] = -1
				break
			} else if st == metrics.Failed {
				f.failed[name]++
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

// engine makes the engine of a run, after fitting metrics to the whole dataset.
func (p *scorePlan) engine(ctx context.Context) (*refract.Engine, error) {
	if refract.NeedsFit(p.settings) && !dataset.Rereadable(p.whole) {
		return nil, usagef("a metric that weighs words by all references reads the dataset twice: give files instead of a pipe, or its option df=FILE")
	}
	eng, err := p.scoring.engine(ctx, p.whole, p.settings, p.per == "system", p.judging.options(refract.Options{EveryCell: p.per == "cell"}))
	if err == nil && p.per == "system" && p.shard.part == nil {
		p.noteMeans(eng)
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
		o.Scope = s.scope
	}
	eng, err := refract.NewEngine(settings, o)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return eng, nil
}

// noteMeans notes why scores are means where sacreBLEU has a corpus score.
func (p *scorePlan) noteMeans(eng *refract.Engine) {
	var names []string
	for k, set := range eng.Settings() {
		_, corpus := set.Metric.(metrics.CorpusMetric)
		if corpus && !eng.Pools(k) && (set.Aggregator.Single() || set.Aggregator.Native()) && p.scoring.scope == refract.Auto {
			names = append(names, set.Metric.Info().Name)
		}
	}
	if len(names) > 0 {
		p.e.note("%s: these are means over segments; -a single,native, without other aggregators, gives corpus scores", strings.Join(slices.Compact(names), ", "))
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

// score scores the segments and gathers the reports of judges. If some metrics fail, the
// command writes what it has and returns their error. It fails if the references changed
// since they were hashed.
func (p *scorePlan) score(ctx context.Context, eng *refract.Engine, before *refract.Identity, write func(*refract.SegmentScores) error) (found *metricFindings, ended *refract.Incomplete, err error) {
	found = &metricFindings{reports: audit.NewReports(eng.Metrics()), failed: map[string]int{}}
	if len(found.reports.Metrics()) == 0 && p.reports != "" {
		return nil, nil, usagef("--reports needs a metric that gives reports, such as a judge ('refract metrics' lists them)")
	}
	var records io.Writer
	if p.reports != "" {
		if records, err = p.e.create(p.reports); err != nil {
			return nil, nil, err
		}
	}
	defer p.judging.answered()
	checked, id := p.per != "system" && p.shard.part == nil && before != nil, refract.NewIdentity() // a pipe is read once
	err = eng.Run(ctx, p.segments, func(seg *refract.SegmentScores) error {
		if err := found.reports.Add(seg, records); err != nil {
			return err
		}
		found.count(eng, seg)
		p.shard.part.segment(seg.Segment.ID)
		if checked {
			id.Add(seg.Segment)
		}
		return write(seg)
	})
	if err != nil && !errors.As(err, &ended) {
		return nil, nil, err
	}
	if checked && before.Name() != id.Name() {
		return nil, nil, errors.New("the references changed while they were read: score again")
	}
	return found, ended, nil
}

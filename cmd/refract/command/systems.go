package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// systemsRun is one run of refract systems: it scores systems and tests the differences.
type systemsRun struct {
	scoreFlags
	resampling
	test     significance.SystemTest
	baseline string
	what     string
	// humanLower says that lower human scores are better.
	humanLower bool
	alpha      float64 // the largest p-value that is significant
}

// What a resample draws, or exchanges.
const (
	bySegment  = "segment"
	byDocument = "document"
)

// systemsTable is the other value of --table, next to pairsTable.
const systemsTable = "systems"

func (e *env) systemsCommand() *cobra.Command {
	t := &systemsRun{}
	t.per, t.collect = "system", t.untilTested
	cmd := e.newCommand(&cobra.Command{
		Use:   "systems [DATASET]",
		Short: "Test which systems are better than others",
		Long: `Score all systems, and test whether their scores differ.

  --table systems  scores with intervals, ranks, the difference to a baseline
  --table pairs    every system against every other: win, tie or loss

Corpus scores of BLEU, chrF and TER have sacreBLEU's draws and p-values; other
scores are means over segments. A pair is tested on the segments that both have.

With --human, the mean human score of each system, and the differences, from the
segments that people judged and the metric's scores of all (prediction-powered
inference), with the number of labels that this is worth.`,
		Example: `  refract systems --ref ref.txt --hyp base=a.txt --hyp mine=b.txt
  refract systems jsonl:expanded.jsonl -m chrf -a max --table pairs
  refract systems jsonl:expanded.jsonl -m chrf --human quality=few.csv`,
	}, cobra.MaximumNArgs(1), t.run)
	t.scoreFlags.register(e, cmd)
	flag := taskFlags.of(cmd)
	flag("table", plain(&t.what, systemsTable), "systems or pairs", shown, oneOf(systemsTable, pairsTable))
	flag("test", valueOf(&t.test, significance.PairedRandomization.String(), significance.ParseSystemTest), "paired-ar or paired-bs", shown, notByHuman, offers(significance.SystemTestNames()...))
	t.resampling.register(cmd, taskFlags, t.resampling.values(0), "of the test (default 10000; paired-bs: 1000 but with --table pairs)", byDocument+", where every segment names one", bySegment, byDocument)
	cmd.Flag("confidence").Usage = "coverage of intervals; a p-value up to the rest is significant"
	flag("against", plain(&t.baseline, ""), "`SYSTEM` that the others are compared with (default the first)", shown)
	registerHumanLower(cmd, taskFlags, &t.humanLower)
	return cmd
}

func (r *systemsRun) run(ctx context.Context, e *env, args []string) error {
	if len(r.data.human) > 0 {
		return r.judged(ctx, e, args)
	}
	if err := r.check(); err != nil {
		return err
	}
	return r.scoreFlags.run(ctx, e, args)
}

// check refuses flags that the table does not use, and a level of significance that no
// p-value can reach.
func (r *systemsRun) check() error {
	if r.humanLower {
		return usagef("--human-lower-is-better does nothing without --human: leave it out")
	}
	if r.what == pairsTable && r.baseline != "" {
		return usagef("--against does nothing with --table %s: leave it out", r.what)
	}
	if r.Resamples == 0 {
		if r.Resamples = r.test.Resamples(); r.what == pairsTable {
			r.Resamples = pairResamples
		}
	}
	r.alpha = math.Round((1-r.Confidence)*1e12) / 1e12
	if r.alpha*float64(r.Resamples+1) < 1 {
		return usagef("--confidence %g: no p-value of %s is that small; raise --resamples to %.0f or more", r.Confidence, english.Thousands(r.Resamples, "resample"), math.Ceil(1/r.alpha)-1)
	}
	return nil
}

// pairResamples is the default number of resamples of --table pairs: with 1,000, no p-value
// survives the correction for hundreds of pairs.
const pairResamples = 10000

// untilTested is the sink of scores, which are tested at the end.
func (r *systemsRun) untilTested(e *env, eng *refract.Engine, out io.Writer) *sink {
	d := &testedSystems{systemScores: systemScores{acc: eng.Systems(), settings: eng.Settings()}, e: e, plan: r, by: r.By, numbers: map[[2]string]int{}}
	d.acc.Keep()
	return &sink{func(s *refract.SegmentScores) error {
		d.record(s.Segment)
		return d.acc.Add(s)
	}, func(ctx context.Context, ended *refract.Incomplete) error {
		d.ended = ended.Reasons()
		table, err := d.table(ctx)
		if err != nil {
			return err
		}
		return r.view.whole(out, table)
	}}
}

// testedSystems are the scores of a run, with facts about its segments.
type testedSystems struct {
	systemScores // of the systems that are compared

	e    *env
	plan *systemsRun
	by   string // what a resample draws: bySegment or byDocument
	// documents are the numbers of the documents of segments, by domain and name. A
	// segment without a document counts as its own.
	documents    []int
	numbers      map[[2]string]int
	groups       int // numbers given
	undocumented int // segments without a document

	names   []string // of the systems that are compared
	leftOut []string // references scored as systems
	against int      // index of the baseline

	progress *report.Progress // of the tests
}

// record keeps what tables need of a segment.
func (ts *testedSystems) record(s *refract.Segment) {
	number, known := ts.numbers[[2]string{s.Domain, s.Document}]
	if !known || s.Document == "" {
		number = ts.groups
		ts.groups++
	}
	if s.Document != "" {
		ts.numbers[[2]string{s.Domain, s.Document}] = number
	} else {
		ts.undocumented++
	}
	ts.documents = append(ts.documents, number)
}

// choose picks the systems that are compared, and the baseline.
func (ts *testedSystems) choose() error {
	for _, sc := range ts.acc.Scores() {
		names := &ts.names
		if sc.Human && len(ts.plan.choice.choice.Systems) == 0 {
			names = &ts.leftOut
		} else {
			ts.scores = append(ts.scores, sc)
		}
		if sc.Setting == 0 {
			*names = append(*names, sc.System)
		}
	}
	if len(ts.names) < 2 {
		return fmt.Errorf("a comparison needs two systems or more; there is %d: %q%s", len(ts.names), ts.names, ts.leftOutNote())
	}
	if ts.plan.baseline == "" {
		return nil
	}
	var err error
	if ts.against, err = english.Index("system", ts.plan.baseline, ts.names); err != nil {
		return usagef("--against: %w%s", err, ts.leftOutNote())
	}
	return nil
}

// score is the score of a compared system under a setting.
func (ts *testedSystems) score(setting, system int) *refract.SystemScore {
	return &ts.scores[setting*len(ts.names)+system]
}

// leftOutNote names the systems that are left out.
func (ts *testedSystems) leftOutNote() string {
	if len(ts.leftOut) == 0 {
		return ""
	}
	return " (left out as references scored as systems: " + strings.Join(ts.leftOut, ", ") + ")"
}

// samples are the parts that the scores of a setting consist of.
func (ts *testedSystems) samples(setting int) *significance.Systems {
	s := &significance.Systems{
		Score:         func(sums []float64, segments int) float64 { return ts.acc.Value(setting, sums, segments) },
		LowerIsBetter: ts.settings[setting].Metric.Info().Direction == metrics.LowerIsBetter,
	}
	for i := range ts.names {
		s.Statistics = append(s.Statistics, ts.acc.BySegment(ts.score(setting, i)))
	}
	if ts.by == byDocument {
		return s.Grouped(ts.documents)
	}
	return s
}

// compare tests systems with a baseline, or [significance.EveryPair].
func (ts *testedSystems) compare(ctx context.Context, setting, baseline int) (*significance.SystemComparison, error) {
	return ts.samples(setting).Compare(ctx, significance.SystemOptions{
		Test: ts.plan.test, Resamples: ts.plan.Resamples, Seed: ts.plan.Seed, Alpha: ts.plan.alpha, Baseline: baseline,
		Drawn: func(_, of int) {
			ts.progress.Total(of * len(ts.settings))
			ts.progress.Add(1)
		},
	})
}

// table makes the table that the flags ask for.
func (ts *testedSystems) table(ctx context.Context) (*report.NamedTable, error) {
	if err := ts.choose(); err != nil {
		return nil, err
	}
	switch {
	case ts.by == byDocument && len(ts.numbers) == 0:
		return nil, usagef("--resample-by document: no segment of the dataset names its document; leave it out")
	case ts.by == "" && ts.undocumented == 0 && ts.groups > 1:
		ts.by = byDocument
	case ts.by == "":
		ts.by = bySegment
	}
	ts.progress = ts.e.progress("test", "resamples").Brief()
	defer ts.progress.Finish()
	shown := ts.systems
	if ts.plan.what == pairsTable {
		shown = ts.pairs
	}
	table, err := shown(ctx)
	if err != nil {
		return nil, err
	}
	ts.notes(table)
	return table, nil
}

// notes adds what is missing, and how scores are computed.
func (ts *testedSystems) notes(t *report.NamedTable) {
	test := map[significance.SystemTest]string{significance.PairedBootstrap: "paired bootstrap", significance.PairedRandomization: "approximate randomization"}[ts.plan.test]
	t.Note("p: %s, %s, seed %d, over the %ss that both systems have", test, english.Thousands(ts.plan.Resamples, "resample"), ts.plan.Seed, ts.by)
	if ts.plan.test == significance.PairedBootstrap {
		t.Note("where there is no difference, paired-bs finds one twice as often as alpha says; paired-ar keeps to alpha")
	}
	if len(ts.numbers) > 0 && ts.by == bySegment {
		const dependent = "p treats the segments of a document as independent, which they are not: --resample-by document does not"
		if t.Note(dependent); !ts.plan.view.format.ForPeople() {
			ts.e.note(dependent)
		}
	}
	ts.noteOrder(t)
	noteReferences(t, ts.leftOut)
	t.Heading = ts.heading()
	ts.systemScores.notes(t, len(ts.names))
}

// noteOrder notes for each metric with several aggregations whether they rank the
// systems alike, or else which pairs change places.
func (ts *testedSystems) noteOrder(t *report.NamedTable) {
	for first, set := range ts.settings {
		var of []int // settings of the metric
		for k := range ts.settings {
			if ts.settings[k].Metric == set.Metric {
				of = append(of, k)
			}
		}
		if of[0] != first || len(of) < 2 {
			continue
		}
		var swapped []string
		pairs := 0
		for a := range ts.names {
			for b := range a {
				var above, below []string
				for _, k := range of {
					switch x, y := ts.score(k, a), ts.score(k, b); {
					case !x.OK || !y.OK || x.Value == y.Value:
					case (x.Value > y.Value) == (set.Metric.Info().Direction == metrics.HigherIsBetter):
						above = append(above, ts.settings[k].AggregatorName())
					default:
						below = append(below, ts.settings[k].AggregatorName())
					}
				}
				if pairs++; len(above) > 0 && len(below) > 0 {
					swapped = append(swapped, fmt.Sprintf("%s above %s under %s, below under %s", ts.names[a], ts.names[b], strings.Join(above, ", "), strings.Join(below, ", ")))
				}
			}
		}
		const most = 3
		name, such := set.Metric.Info().Name, ": "
		if len(swapped) == 0 {
			t.Note("%s: the order of systems is the same under all %d aggregations", name, len(of))
			continue
		}
		n := len(swapped)
		if n > most {
			swapped, such = swapped[:most], ", such as "
		}
		t.Note("%s: pairs of systems that change places between aggregations: %d of %d%s%s", name, n, pairs, such, strings.Join(swapped, "; "))
	}
}

// ofSetting returns the columns, or cells, that people or programs see in a table with a setting
// in each row: people see the setting if there are several, programs its parts.
func ofSetting[T any](ts *testedSystems, people T, programs ...T) []T {
	switch {
	case !ts.plan.view.format.ForPeople():
		return programs
	case len(ts.settings) == 1:
		return nil
	}
	return []T{people}
}

func (ts *testedSystems) newTable(columns ...report.Column) *report.NamedTable {
	return &report.NamedTable{Columns: append(ofSetting(ts, textColumn("setting"), textColumn("metric"), textColumn("aggregate")), columns...)}
}

// add adds a row about a setting.
func (ts *testedSystems) add(t *report.NamedTable, setting int, cells ...any) {
	set := ts.settings[setting]
	t.Add(append(ofSetting[any](ts, ts.name(setting), set.Metric.Info().Name, report.StringOrNull(set.AggregatorName())), cells...)...)
}

// decimals is 3 if the scores of some setting need it, else 1. Differences have one
// more.
func (ts *testedSystems) decimals() int {
	digits := 1
	for k := range ts.settings {
		scores := ts.scores[k*len(ts.names):][:len(ts.names)]
		if slices.ContainsFunc(scores, func(sc refract.SystemScore) bool { return sc.OK }) {
			digits = max(digits, decimals(scores))
		}
	}
	return ts.plan.view.digits(digits)
}

// result is the outcome of a test for the first system of a pair, by its p-value
// corrected for the number of comparisons.
func (ts *testedSystems) result(setting int, p *significance.SystemPair, value float64, comparisons int) report.Value {
	better := p.Delta > 0
	if ts.settings[setting].Metric.Info().Direction == metrics.LowerIsBetter {
		better = p.Delta < 0
	}
	switch {
	case math.IsNaN(p.Delta):
		return report.Null()
	case p.Differing == 0:
		return report.String("equal")
	case p.Differing < ts.least(comparisons):
		return report.String("too few")
	case p.Delta == 0 || !significance.Significant(value, ts.plan.alpha):
		return report.String("tie")
	case better:
		return report.String("win")
	}
	return report.String("loss")
}

// least is the number of segments that must differ before one of the comparisons can
// reach a corrected p-value of alpha, if all exchanges are tested.
func (ts *testedSystems) least(comparisons int) int {
	return int(math.Ceil(1 - math.Log2(ts.plan.alpha/float64(comparisons))))
}

// shownP is the p-value of a pair, missing if too few segments differ.
func shownP(p *significance.SystemPair, value float64, least int) report.Value {
	return where(p.Differing >= least, report.Float(value))
}

// pairs is the table of every pair.
func (ts *testedSystems) pairs(ctx context.Context) (*report.NamedTable, error) {
	digits := ts.decimals()
	t := ts.newTable(textColumn("system_a"), textColumn("system_b"), countColumn(ts.by+"s"), numberColumn("score_a", digits), numberColumn("score_b", digits),
		numberColumn("delta", digits+1), numberColumn("p", 4), programColumn(numberColumn("p_sacrebleu", 4)), numberColumn("p_corrected", 4), textColumn("result"), programColumn(textColumn("method")))
	pairs := len(ts.names) * (len(ts.names) - 1) / 2
	if least := float64(pairs) / float64(ts.plan.Resamples+1); least > ts.plan.alpha {
		t.Note("no p of %s is %g or less after correction for %s: raise --resamples to %d or more", english.Thousands(ts.plan.Resamples, "resample"), ts.plan.alpha, english.Count(pairs, "pair"), int(math.Ceil(float64(pairs)/ts.plan.alpha)))
	}
	for k := range ts.settings {
		c, err := ts.compare(ctx, k, significance.EveryPair)
		if err != nil {
			return nil, err
		}
		for i := range c.Pairs {
			p, n := &c.Pairs[i], len(c.Pairs)
			ts.add(t, k, ts.names[p.A], ts.names[p.B], p.Segments, p.ScoreA, p.ScoreB, p.Delta, shownP(p, p.Decisive, ts.least(1)), shownP(p, p.P, 1), shownP(p, p.Corrected, ts.least(n)), ts.result(k, p, p.Corrected, n), method(ts.score(k, p.A)))
		}
	}
	t.Note("result: of system a; win or loss: p is at most %g after Holm's correction for %s; too few: fewer than %d %ss differ, so p cannot be that small",
		ts.plan.alpha, english.Count(pairs, "pair"), ts.least(pairs), ts.by)
	return t, nil
}

// systems is the table of scores, intervals and ranks, the best first.
func (ts *testedSystems) systems(ctx context.Context) (*report.NamedTable, error) {
	digits := ts.decimals()
	segments, deltaCI := countColumn(ts.by+"s"), intervalColumn("delta_ci", digits+1)
	segments.Minor, deltaCI.Header = true, fmt.Sprintf("%.6g%% ci", 100*(1-ts.plan.alpha))
	t := ts.newTable(textColumn("system"), numberColumn("score", digits),
		programColumn(intervalColumn("ci", digits)), programColumn(numberColumn("ci_mean", digits)),
		countColumn("rank"), intervalColumn("rank_ci", 0), numberColumn("delta", digits+1), deltaCI, numberColumn("p", 4), programColumn(numberColumn("p_sacrebleu", 4)), textColumn("result"), segments,
		programColumn(countColumn("missing")), programColumn(textColumn("baseline")), programColumn(textColumn("status")), programColumn(textColumn("method")), programColumn(textColumn("signature")))
	for k := range ts.settings {
		c, err := ts.compare(ctx, k, ts.against)
		if err != nil {
			return nil, err
		}
		pairs, order := make([]significance.SystemPair, len(ts.names)), make([]int, len(ts.names))
		for i := range order { // the baseline has no pair
			order[i], pairs[i] = i, significance.SystemPair{Segments: c.Systems[i].Segments, Delta: math.NaN(), P: math.NaN(), Decisive: math.NaN()}
		}
		for _, p := range c.Pairs {
			pairs[p.A] = p
		}
		last := func(i int) int { return cmp.Or(c.Systems[i].Rank, len(order)+1) }
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last(i), last(j)) })
		var tied, lacking []string
		for _, i := range order {
			s, sc, p := &c.Systems[i], ts.score(k, i), &pairs[i]
			ranked, result := sc.OK && s.Rank > 0, ts.result(k, p, p.Decisive, 1)
			if !ranked {
				lacking = append(lacking, ts.names[i])
			}
			if result == report.String("tie") {
				tied = append(tied, ts.names[i])
			}
			ts.add(t, k, ts.names[i], scoreValue(sc), where(sc.OK, bounds(s.Interval)), where(sc.OK, report.Float(s.Interval.Mean)),
				where(ranked, report.Int(s.Rank)), where(ranked, report.Interval(float64(s.RankLow), float64(s.RankHigh))),
				p.Delta, where(!math.IsNaN(p.Delta), bounds(p.Interval)), shownP(p, p.Decisive, ts.least(1)), shownP(p, p.P, 1), result, p.Segments,
				sc.Missing, ts.names[ts.against], sc.Status.String(), method(sc), ts.acc.Signature(sc).String())
		}
		if len(lacking) > 0 {
			t.Note("%s: no rank for %s: %ss that others have are missing; delta is over the %[3]ss that both systems have", ts.name(k), strings.Join(lacking, ", "), ts.by)
		}
		if len(tied) > 0 {
			t.Note("%s: the test does not tell %s from %s", ts.name(k), strings.Join(tied, ", "), ts.names[ts.against])
		}
	}
	t.Note("delta, p and result: compared with %s; win or loss: p is at most %g, not corrected for the number of systems; too few: fewer than %d %ss differ, so p cannot be that small",
		ts.names[ts.against], ts.plan.alpha, ts.least(1), ts.by)
	return t, nil
}

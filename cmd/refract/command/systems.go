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
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics"
)

// systemTester is one run of refract systems: scores, and tests of them.
type systemTester struct {
	scorer
	test         significance.SystemTest
	resamples    int
	seed         uint64
	baseline     string
	includeHuman bool
	alpha        float64
	what         string
	by           string // what a resample draws, or exchanges
}

// The values of --by.
const (
	bySegment  = "segment"
	byDocument = "document"
)

// systemsTable is the value of --table besides pairsTable.
const systemsTable = "systems"

func (e *env) systemsCommand() *cobra.Command {
	t := &systemTester{}
	cmd := &cobra.Command{
		Use:   "systems [DATASET]",
		Short: "Test which systems are better than others",
		Long: `Score all systems, and test whether their scores differ, by approximate
randomization (paired-ar) or paired bootstrap (paired-bs). Corpus scores of BLEU,
chrF and TER have sacreBLEU's draws and p-values; all other scores are means of
segment scores, tested by the same code. A pair is tested over the segments
that both systems have.

--table systems  scores with intervals, ranks, the difference to a baseline
--table pairs    every system against every other: win, tie or loss`,
		Example: `  refract systems --ref ref.txt --hyp base=base.txt --hyp mine=mine.txt
  refract systems mtme:data/wmt22/zh-en -m chrf --by document --baseline bleu_bestmbr
  refract systems jsonl:expanded.jsonl -m chrf -a max --table pairs`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(cmd); err != nil {
				return err
			}
			return t.run(cmd.Context(), e, args)
		},
	}
	t.into, t.per = t.collect, "system"
	t.input.register(cmd)
	t.choiceFlags.register(cmd)
	t.settingFlags.register(e, cmd, "native, or max for a metric without a rule of its own")
	t.output.register(cmd)
	t.judgeFlags.register(cmd)
	t.judgeFlags.registerDryRun(cmd, "ask for no score: servers of oip say what they are, and programs are started")
	t.registerScope(cmd)
	f := cmd.Flags()
	f.StringVar(&t.what, "table", systemsTable, "systems or pairs")
	oneOf(cmd, "table", systemsTable, pairsTable)
	parsedFlag(cmd, &t.test, "test", significance.PairedRandomization.String(), significance.ParseSystemTest,
		"paired-ar or paired-bs", significance.SystemTestNames()...)
	f.IntVar(&t.resamples, "resamples", 0, "resamples of the test (default 10000; paired-bs: 1000 but with --table pairs)")
	f.StringVar(&t.by, "by", bySegment, "segment, or document where those of a document depend on each other")
	oneOf(cmd, "by", bySegment, byDocument)
	f.Uint64Var(&t.seed, "seed", defaultSeed, "seed of all resampling")
	f.StringVar(&t.baseline, "baseline", "", "`SYSTEM` that the others are compared with (default the first)")
	f.BoolVar(&t.includeHuman, "include-references", false, "compare references scored as systems too, but those in use")
	f.Float64Var(&t.alpha, "alpha", 0.05, "largest p-value that is significant; intervals cover the rest")
	within(cmd, 1, correlate.MaxResamples, "resamples")
	isShare(cmd, "alpha")
	grouped(cmd, taskFlags, "table", "test", "by", "baseline", "alpha")
	return cmd
}

// check refuses flags that the table has no use for, and a level of significance
// that no p-value reaches.
func (t *systemTester) check(cmd *cobra.Command) error {
	if t.what == pairsTable {
		if err := isIdle(cmd, t.what, "baseline"); err != nil {
			return err
		}
	}
	if t.resamples == 0 {
		if t.resamples = t.test.Resamples(); t.what == pairsTable {
			t.resamples = ofPairs
		}
	}
	if t.alpha*float64(t.resamples+1) < 1 {
		return usagef("--alpha %g: no p-value of %s is as small; raise --resamples to %.0f or more", t.alpha, english.Thousands(t.resamples, "resample"), math.Ceil(1/t.alpha)-1)
	}
	return nil
}

// ofPairs is the least number of resamples of --table pairs, whose correction for
// some hundreds of pairs no p-value of 1,000 resamples survives.
const ofPairs = 10000

// collect is the sink of scores that are tested at their end.
func (t *systemTester) collect(eng *refract.Engine, out io.Writer, _ *refract.Identity) (*sink, error) {
	d := &testedSystems{systemTester: t, acc: eng.Systems(), settings: eng.Settings(), people: map[string][]bool{}, numbers: map[[2]string]int{}}
	d.acc.Keep()
	return &sink{func(s *refract.SegmentScores) error {
		d.look(s.Segment)
		return d.acc.Add(s)
	}, func(ctx context.Context, ended *refract.Incomplete) error {
		d.ended = ended.Reasons()
		table, err := d.table(ctx)
		if err != nil {
			return err
		}
		return t.whole(out, table)
	}}, nil
}

// testedSystems are the scores of a run, and what is known of its segments.
type testedSystems struct {
	*systemTester
	acc      *refract.Systems
	settings []refract.Setting
	ended    map[string]string
	people   map[string][]bool // of references scored as systems: which references have their text so far
	// documents are the numbers of those of segments, by domain and name. A segment
	// without a document is one of its own.
	documents []int
	numbers   map[[2]string]int
	groups    int // numbers given

	names   []string                 // of the systems that are compared
	scores  [][]*refract.SystemScore // by setting, and then by compared system
	leftOut []string                 // references scored as systems
	against int                      // index of the baseline

	progress *report.Progress // of the tests
}

// look takes in what tables tell of a segment.
func (d *testedSystems) look(s *refract.Segment) {
	number, known := d.numbers[[2]string{s.Domain, s.Document}]
	if !known || s.Document == "" {
		number = d.groups
		d.groups++
	}
	if s.Document != "" {
		d.numbers[[2]string{s.Domain, s.Document}] = number
	}
	d.documents = append(d.documents, number)
	for h := range s.Hypotheses {
		hyp := &s.Hypotheses[h]
		if !hyp.Human || !hyp.Text.Valid {
			continue
		}
		same := d.people[hyp.System]
		for k, r := range s.References {
			if k == len(same) {
				same = append(same, true)
			}
			same[k] = same[k] && (!r.Valid || r == hyp.Text)
		}
		d.people[hyp.System] = same
	}
}

// choose picks the systems that are compared, and the baseline.
func (d *testedSystems) choose() error {
	all := d.acc.Scores()
	perSetting := len(all) / len(d.settings)
	d.scores = make([][]*refract.SystemScore, len(d.settings))
	for i := range all {
		sc := &all[i]
		first := i < perSetting
		if sc.Human && (!d.includeHuman || slices.Contains(d.people[sc.System], true)) {
			if first {
				d.leftOut = append(d.leftOut, sc.System)
			}
			continue
		}
		if first {
			d.names = append(d.names, sc.System)
		}
		d.scores[sc.Setting] = append(d.scores[sc.Setting], sc)
	}
	if len(d.names) < 2 {
		return fmt.Errorf("a comparison needs two systems or more; there is %s%s", cmp.Or(strings.Join(d.names, ""), "none"), d.outside())
	}
	if d.baseline == "" {
		return nil
	}
	var err error
	if d.against, err = suggest.Index("system", d.baseline, d.names); err != nil {
		return usagef("--baseline: %w%s", err, d.outside())
	}
	return nil
}

// outside says which systems are left out.
func (d *testedSystems) outside() string {
	if len(d.leftOut) == 0 {
		return ""
	}
	return " (left out as references scored as systems: " + strings.Join(d.leftOut, ", ") + ")"
}

// samples are what the scores of a setting are made of.
func (d *testedSystems) samples(setting int) *significance.Systems {
	s := &significance.Systems{
		Score:         func(sums []float64, segments int) float64 { return d.acc.Value(setting, sums, segments) },
		LowerIsBetter: d.settings[setting].Metric.Info().Direction == metrics.LowerIsBetter,
	}
	for _, sc := range d.scores[setting] {
		of := make([][]float64, d.acc.Segments())
		if sc.OK {
			rows, _ := d.acc.Samples(sc)
			for i, segment := range d.acc.Entered(sc) {
				of[segment] = rows[i]
			}
		}
		s.Statistics = append(s.Statistics, of)
	}
	if d.by == byDocument {
		return s.Grouped(d.documents)
	}
	return s
}

// compare tests systems with a baseline, or [significance.EveryPair].
func (d *testedSystems) compare(ctx context.Context, setting, baseline int) (*significance.SystemComparison, error) {
	return d.samples(setting).Compare(ctx, significance.SystemOptions{
		Test: d.test, Resamples: d.resamples, Seed: d.seed, Alpha: d.alpha, Baseline: baseline,
		Drawn: func(_, of int) {
			d.progress.Total(of * len(d.settings))
			d.progress.Add(1)
		},
	})
}

// table makes the table that is asked for.
func (d *testedSystems) table(ctx context.Context) (*report.NamedTable, error) {
	if err := d.choose(); err != nil {
		return nil, err
	}
	if d.by == byDocument && len(d.numbers) == 0 {
		return nil, usagef("--by document: no segment of the dataset names its document; leave it out")
	}
	d.progress = d.judging.e.progress("test", "resamples").Brief()
	defer d.progress.Finish()
	shown := d.systems
	if d.what == pairsTable {
		shown = d.pairs
	}
	table, err := shown(ctx)
	if err != nil {
		return nil, err
	}
	d.notes(table)
	return table, nil
}

// notes say what is missing, and what scores are.
func (d *testedSystems) notes(t *report.NamedTable) {
	test := map[significance.SystemTest]string{significance.PairedBootstrap: "paired bootstrap", significance.PairedRandomization: "approximate randomization"}[d.test]
	t.Note("p: %s, %s, seed %d, over the %ss that both systems have", test, english.Thousands(d.resamples, "resample"), d.seed, d.by)
	if d.test == significance.PairedBootstrap {
		t.Note("paired-bs finds a difference twice as often as alpha says where there is none; paired-ar keeps to alpha")
	}
	if len(d.numbers) > 0 && d.by == bySegment {
		t.Note("segments of a document depend on each other, and p takes them as independent: --by document does not")
	}
	noteReferences(t, d.leftOut, d.includeHuman)
	shown := &systemScores{acc: d.acc, settings: d.settings, ended: d.ended}
	for _, scores := range d.scores {
		for _, sc := range scores {
			shown.scores = append(shown.scores, *sc)
		}
	}
	shown.notes(t, len(d.names))
}

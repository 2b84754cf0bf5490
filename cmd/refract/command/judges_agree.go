package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/judge/agree"
	"github.com/refract-eval/refract/metrics/judge/audit"
	"github.com/refract-eval/refract/report"
)

// agreeing is one run of refract judges agree.
type agreeing struct {
	dataset, human, what string
	raters               bool
	resamples            int
	reference            *int // nil: the only one
	statistic            correlate.Statistic
	bootstrapFlags
	out output
}

const peopleTable = "people"

func (e *env) agreeCommand() *cobra.Command {
	x := &agreeing{}
	cmd := &cobra.Command{
		Use:   "agree FILE FILE…",
		Short: "Compare judges by their reports",
		Long: `Compare each two judges on the outputs that both have scored: correlation and
Krippendorff's alpha of their scores, F1 of the spans of their errors, and the
severities of spans that go together. An output that one of them has not scored
is counted, and is in no number. Intervals are by document, where documents are
known. 'refract judges --help' tells of judges.

FILE has reports, as 'refract score --reports' or 'refract parse' writes them;
each metric in it is a judge, and - is standard input. mqm:FILE has ratings by
people with spans ('refract help datasets'), and so has a file of 'refract parse
mqm': they are the judge "people", the mean of the raters' scores with the errors
of them all, or one judge each with --raters, with one alpha of them all.

--table people tests by PERM-BOTH which judges correlate better with people, whose
scores are those of --dataset, or of mqm:FILE.`,
		Example: `  refract judges agree instructscore.jsonl tigerscore.jsonl
  refract judges agree mqm:ted.en-de.tsv gemba.jsonl mqm.jsonl
  refract judges agree mqm:ted.en-de.tsv gemba.jsonl mqm.jsonl --table people`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
	}
	f := cmd.Flags()
	reference := f.Int("of-reference", 0, "index, from 0, of the reference whose reports are read, where an output has several")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.Changed("of-reference") {
			x.reference = reference
		}
		return x.run(cmd.Context(), e, args)
	}
	f.StringVar(&x.dataset, "dataset", "", "`DATASET` with documents and human scores (default the mqm: FILE)")
	f.StringVar(&x.human, "human", "", "name of the human scores (default the only ones, or mqm)")
	f.BoolVar(&x.raters, "raters", false, "each rater of a FILE is a judge of its own")
	atLeast(cmd, 0, "of-reference")
	grouped(cmd, inputFlags, "dataset", "human", "raters", "of-reference")
	f.StringVar(&x.what, "table", pairsTable, "pairs or people")
	oneOf(cmd, "table", pairsTable, peopleTable)
	grouped(cmd, taskFlags, "table")
	parsedFlag(cmd, &x.statistic, "statistic", correlate.StatKendall.String(), correlate.ParseStatistic, "of --table people, "+statisticList, correlate.StatisticNames()...)
	f.IntVar(&x.resamples, "resamples", 1000, "resamples of the test against people")
	x.bootstrapFlags.register(cmd, "seed of all resampling")
	within(cmd, 1, correlate.MaxResamples, "resamples")
	grouped(cmd, statisticFlags, "statistic", "resamples", "bootstrap", "confidence", "seed")
	x.out.register(cmd)
	return cmd
}

func (x *agreeing) run(ctx context.Context, e *env, args []string) error {
	if x.dataset != "" {
		e.paths.Reads("--dataset", dataset.Inputs(x.dataset)...)
		if err := e.paths.Check(); err != nil {
			return usagef("%w", err)
		}
	}
	c := &agree.Comparison{Resamples: x.bootstrap, Confidence: x.confidence, Seed: x.seed}
	var files []string // of each judge
	for _, arg := range args {
		judges, err := x.read(ctx, e, arg)
		if err != nil {
			return err
		}
		for _, j := range judges {
			c.Judges, files = append(c.Judges, j), append(files, arg)
		}
	}
	if len(c.Judges) < 2 {
		return usagef("there is one judge, %s: name the reports of another", c.Judges[0].Name)
	}
	if err := apart(c.Judges, files); err != nil {
		return err
	}
	if x.dataset == "" && x.human != "" {
		return usagef("--human names scores of a dataset: give --dataset or mqm:FILE")
	}
	if x.dataset != "" {
		ds, err := (&input{}).dataset(e, []string{x.dataset}, true)
		if err != nil {
			return err
		}
		if c.Set, err = agree.ReadSet(ctx, ds, x.human); err != nil {
			return fmt.Errorf("%s: %w", x.dataset, err)
		}
	}
	table := x.pairs
	if x.what == peopleTable {
		table = x.people
	}
	t, err := table(ctx, c)
	if err != nil {
		return err
	}
	return x.out.show(e, t)
}

// read reads the judges of a file. The first mqm: file is the dataset, unless
// there is one.
func (x *agreeing) read(ctx context.Context, e *env, arg string) ([]*agree.Judge, error) {
	if file, ok := dataset.MQMFile(arg); ok {
		warn := e.datasetOptions().Warn
		if x.dataset == "" {
			x.dataset = arg
		}
		if x.dataset == arg {
			warn = nil // the dataset has the same ones
		}
		ratings, err := dataset.ReadMQM(file, warn)
		if err == nil && len(ratings) == 0 {
			err = fmt.Errorf("%s has no rating", file)
		}
		return agree.OfRaters(ratings, x.raters), err
	}
	name, in, err := e.openAnswers(ctx, arg)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	judges, err := agree.Read(audit.ReadReports(name, in), filepath.Base(name), x.reference, x.raters)
	if errors.Is(err, agree.ErrReferences) {
		err = fmt.Errorf("%w; --of-reference chooses one", err)
	}
	if err != nil && strings.HasSuffix(arg, ".tsv") {
		return nil, fmt.Errorf("%w; mqm:%s reads ratings by people", err, arg)
	}
	if at := (*dataset.Error)(nil); err != nil && !errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return judges, err
}

// apart gives judges of the same name the names of their files too.
func apart(judges []*agree.Judge, files []string) error {
	names := map[string]int{}
	for _, j := range judges {
		names[j.Name]++
	}
	taken := map[string]bool{}
	for i, j := range judges {
		if names[j.Name] > 1 {
			j.Name += "@" + files[i]
		}
		if taken[j.Name] {
			return usagef("%s is named twice", files[i])
		}
		taken[j.Name] = true
	}
	return nil
}

// pairs has a row for each two judges.
func (x *agreeing) pairs(ctx context.Context, c *agree.Comparison) (*report.NamedTable, error) {
	res, err := c.Pairs(ctx)
	if err != nil {
		return nil, err
	}
	interval := func(name string) report.Column {
		return report.Column{Name: name + "_ci", Header: "ci", Kind: report.KindInterval, Digits: 3}
	}
	t := &report.NamedTable{Columns: []report.Column{textColumn("judge_a"), textColumn("judge_b"), countColumn("outputs"), countColumn("unscored"), countColumn("alone")}}
	t.Columns[0].Header, t.Columns[1].Header = "a", "b"
	for _, name := range []string{"pearson", "kendall", "alpha"} {
		t.Columns = append(t.Columns, numberColumn(name, 3), interval(name))
	}
	for _, name := range []string{"exact", "partial", "characters", "graded"} {
		t.Columns = append(t.Columns, programColumn(numberColumn(name+"_precision", 3)), programColumn(numberColumn(name+"_recall", 3)), numberColumn(name+"_f1", 3), interval(name))
	}
	t.Columns = append(t.Columns, programColumn(countColumn("spans_a")), programColumn(countColumn("spans_b")), programColumn(countColumn("unplaced_a")), programColumn(countColumn("unplaced_b")),
		countColumn("severities"), numberColumn("same_severity", 3), numberColumn("severity_alpha", 3))
	apart := 0 // pairs of raters
	for i := range res.Pairs {
		p := &res.Pairs[i]
		if p.A.People && p.B.People && p.Outputs+p.Unscored == 0 {
			apart++
			continue
		}
		row := []any{p.A.Name, p.B.Name, p.Outputs, p.Unscored, p.Alone}
		for _, v := range []agree.Value{p.Pearson, p.Kendall, p.Alpha} {
			row = append(row, v.Value, report.Interval(v.Low, v.High))
		}
		if p.Spans == nil {
			t.Note("spans of %s and %s are not compared: one of them reports no error at all", p.A.Name, p.B.Name)
			t.Add(append(row, make([]any, len(t.Columns)-len(row))...)...)
			continue
		}
		s := p.Spans
		for _, v := range []struct {
			value agree.Value
			of    interface{ Precision() float64 }
			back  float64
		}{
			{p.Exact, s.Exact, s.Exact.Recall()},
			{p.Partial, s.Partial, s.Partial.Recall()},
			{p.Characters, s.Characters, s.Characters.Recall()},
			{p.Graded, s.Graded, s.Graded.Recall()},
		} {
			row = append(row, v.of.Precision(), v.back, v.value.Value, report.Interval(v.value.Low, v.value.High))
		}
		pairs, same, alpha := s.SeverityAgreement()
		t.Add(append(row, s.Exact.Of[0], s.Exact.Of[1], s.Unplaced[0], s.Unplaced[1], pairs, same, alpha)...)
	}
	t.Note("unscored: both have a report, but at most one a score; alone: only one has a report. They are in no number")
	if apart > 0 {
		t.Note("left out: %s of raters who have rated no output in common", english.Count(apart, "pair"))
	}
	if r := res.Raters; r != nil {
		t.Add(append([]any{fmt.Sprintf("all %d raters", r.Judges), nil, r.Outputs, nil, nil, nil, nil, nil, nil, r.Alpha.Value, report.Interval(r.Alpha.Low, r.Alpha.High)}, make([]any, len(t.Columns)-11)...)...)
		t.Note("all raters: the outputs that two of them or more have scored")
	}
	x.explain(t, res.By.String(), "")
	if res.References > 0 {
		t.Note("left out, as references scored as systems: %s", english.Count(res.References, "output"))
	}
	if c.Set != nil && c.Set.Human != "" && x.tested(c) > 1 {
		t.Note("--table people tests which judge correlates better with %s", c.Set.Human)
	}
	return t, nil
}

// tested is how many judges are not people.
func (x *agreeing) tested(c *agree.Comparison) int {
	return len(slices.DeleteFunc(slices.Clone(c.Judges), func(j *agree.Judge) bool { return j.People }))
}

// people has a row for each two judges that are tested, the better one first.
func (x *agreeing) people(ctx context.Context, c *agree.Comparison) (*report.NamedTable, error) {
	if c.Set == nil || c.Set.Human == "" {
		return nil, usagef("--table people needs human scores: name a --dataset that has them, with --human where it has several, or mqm:FILE")
	}
	m := correlate.Measure{Statistic: x.statistic}
	tests, err := c.ByPeople(ctx, m, x.resamples)
	if err != nil {
		return nil, err
	}
	t := &report.NamedTable{Columns: []report.Column{textColumn("judge_a"), textColumn("judge_b"), countColumn("outputs"),
		numberColumn("of_a", 3), numberColumn("of_b", 3), numberColumn("delta", 3), numberColumn("p", 4), numberColumn("p_corrected", 4),
		programColumn(textColumn("statistic")), programColumn(textColumn("human"))}}
	t.Columns[0].Header, t.Columns[1].Header = "a", "b"
	for _, b := range tests {
		t.Add(b.A.Name, b.B.Name, b.Outputs, b.OfA, b.OfB, b.OfA-b.OfB, b.P, b.Corrected, m.String(), c.Set.Human)
	}
	t.Note("%v with %s over the outputs that both judges have scored; p: perm-both that a is better, %d resamples, seed %d; corrected by Holm", m, c.Set.Human, x.resamples, x.seed)
	if n := x.tested(c); len(tests) < n*(n-1)/2 {
		t.Note("a judge whose %v is undefined is left out", m)
	}
	return t, nil
}

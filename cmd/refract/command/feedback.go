package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/audit"
	"github.com/refract-eval/refract/metrics/judge/build"
)

// feedbacking is one run of refract feedback.
type feedbacking struct {
	buildFlags
	parse    string
	verdicts string
	labels   string
}

func (e *env) feedbackCommand() *cobra.Command {
	x := &feedbacking{}
	cmd := &cobra.Command{
		Use:   "feedback [REPORTS [DATASET]]",
		Short: "Ask a model what is wrong with reports",
		Long: `Ask a model the questions of InstructScore's paper about reports of errors (tables
34 and 35), and print the table of trust with how well they align, by judge and
system: the fields that are right, of all fields (section 4.2). The failures M1
to M5 and G1 to G4 of an error follow from the answers and from what can be
looked up; M6 is asked by no question, and not measured.

REPORTS are those of any judge, as 'refract score --reports' or 'refract parse'
writes them; - is standard input. DATASET has their texts, unless the rows have
"hypothesis" and "reference". With --parse METRIC the rows are answers, as
'refract parse' takes them.

--verdicts FILE writes a row for each report: its alignment and the failures of
each error. A file of such rows by people is what --labels takes. 'refract score'
and 'refract report' take either as --feedback.`,
		Example: `  refract score jsonl:data.jsonl -m instructscore:task=mt_zh-en --reports reports.jsonl
  refract feedback reports.jsonl jsonl:data.jsonl --model gpt-4o --verdicts verdicts.jsonl
  refract feedback answers.jsonl --parse instructscore --model gpt-4o --labels people.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(2)),
		RunE: x.asking(e, x.run),
	}
	f := cmd.Flags()
	f.StringVar(&x.parse, "parse", "", "`METRIC` that reads the rows, which are answers: a judge, or judge-file:FILE")
	f.StringVar(&x.labels, "labels", "", "`FILE` of rows with \"id\", \"system\" and \"failures\" by people, to compare with")
	f.StringVar(&x.verdicts, "verdicts", "", "`FILE` to write, a row for each report")
	isNamed(cmd, "verdicts")
	grouped(cmd, taskFlags, "parse", "labels")
	grouped(cmd, resultFlags, "verdicts")
	x.registerRecipe(cmd)
	x.registerModel(cmd)
	x.formats.register(cmd)
	return cmd
}

func (x *feedbacking) run(ctx context.Context, e *env, args []string) error {
	if done, err := x.load(e, "feedback"); done || err != nil {
		return err
	}
	if len(args) == 0 {
		return usagef("REPORTS are missing: name the file that 'refract score --reports' or 'refract parse' has written")
	}
	reports, examine, err := x.read(ctx, e, args[0])
	if err != nil {
		return err
	}
	if len(args) > 1 {
		if err := x.join(ctx, e, reports, args[1]); err != nil {
			return err
		}
	}
	for _, r := range reports {
		examine(r)
	}
	labels, err := x.readLabels(ctx, e)
	if err != nil {
		return err
	}
	teacher, err := x.teacher(ctx, e)
	if err != nil {
		return err
	}
	out := io.Discard
	if x.verdicts != "" && !x.dryRun {
		if out, err = e.create(x.verdicts); err != nil {
			return err
		}
	}
	verdicts, err := (&build.Feedback{Recipe: x.recipe, Teacher: teacher}).On(ctx, reports)
	if err != nil {
		return err
	}
	if x.dryRun {
		return x.foreseen(e, teacher.Steps)
	}
	return x.show(e, out, reports, verdicts, labels)
}

// read reads the reports, and tells how to look for their errors once their texts
// are known.
func (x *feedbacking) read(ctx context.Context, e *env, file string) ([]*audit.Reported, func(*audit.Reported), error) {
	name, in, err := e.openAnswers(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	rows, examine := audit.ReadReports(name, in), func(*audit.Reported) {}
	if x.parse != "" {
		reading, err := audit.NewReading(x.parse, judge.Policy{}, nil, e.registry().Names()...)
		if err != nil {
			return nil, nil, usagef("--parse: %w", err)
		}
		rows, examine = reading.Reports(name, in), reading.Examine
	}
	reports, err := collected(rows)
	return reports, examine, err
}

func collected[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// join gives reports the texts of a dataset.
func (x *feedbacking) join(ctx context.Context, e *env, reports []*audit.Reported, spec string) error {
	segments, err := x.segments(ctx, e, spec)
	if err != nil {
		return err
	}
	byID := map[string]*refract.Segment{}
	for _, s := range segments {
		byID[s.ID] = s
	}
	for _, r := range reports {
		s := byID[r.ID]
		if s == nil {
			return fmt.Errorf("%s has no segment %q, of which there is a report", spec, r.ID)
		}
		texts := s.AllReferences(nil)
		i := 0
		if r.Reference != nil {
			i = *r.Reference
		}
		if i >= len(texts) {
			return fmt.Errorf("%s: segment %q has %d references, and a report is of reference %d (from 0)", spec, r.ID, len(texts), i)
		}
		r.Texts.Reference, r.Texts.Source = texts[i].Value, s.Source.Value
		for _, h := range s.Hypotheses {
			if h.System == r.System && h.Text.Valid {
				r.Texts.Hypothesis, r.HasTexts = h.Text.Value, texts[i].Valid
			}
		}
	}
	return nil
}

// verdictRow is a row of --verdicts.
type verdictRow struct {
	audit.Place
	build.Verdict
	Unmeasured []analysis.Failure `json:"unmeasured,omitempty"`
}

// labelKey finds the labels of a report; they may be of any metric and reference.
func labelKey(id, system string) string { return id + "\x00" + system }

func (x *feedbacking) readLabels(ctx context.Context, e *env) (map[string]*audit.Feedback, error) {
	if x.labels == "" {
		return nil, nil
	}
	name, in, err := e.openAnswers(ctx, x.labels)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	all := map[string]*audit.Feedback{}
	for l, err := range audit.ReadFeedback(name, in) {
		if err != nil {
			return nil, err
		}
		key := labelKey(l.ID, l.System)
		if all[key] != nil {
			return nil, fmt.Errorf("%s: %s has labels twice", name, l)
		}
		all[key] = l
	}
	return all, nil
}

// show writes the verdicts, and prints what they come to in the table of trust.
func (x *feedbacking) show(e *env, out io.Writer, reports []*audit.Reported, verdicts []*build.Verdict, labels map[string]*audit.Feedback) error {
	trust, agreement := &analysis.Trust{}, &build.Agreement{}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	without := map[string]int{} // reports, by what became of them
	for i, r := range reports {
		v := verdicts[i]
		r.Metric = cmp.Or(r.Metric, "unnamed")
		trust.Add(r.Metric, r.System, &r.Report)
		row := verdictRow{Place: r.Place, Verdict: *v}
		if v.Status == build.Judged {
			trust.AddFeedback(r.Metric, r.System, *v.Alignment, v.Errors)
			row.Unmeasured = analysis.Unmeasured()
		} else {
			without[v.Status]++
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
		if l := labels[labelKey(r.ID, r.System)]; l != nil {
			if err := agreement.Add(v, l); err != nil {
				return fmt.Errorf("%s: %s: %w", x.labels, r, err)
			}
		}
	}
	metric := reports[0].Metric
	if slices.ContainsFunc(reports, func(r *audit.Reported) bool { return r.Metric != metric }) {
		metric = "" // there are several
	}
	t := audit.TrustTable(trust, metric)
	if metric != "" {
		t.Note("reports by %s", metric)
	}
	for _, status := range slices.Sorted(maps.Keys(without)) {
		t.Note("%s without feedback: %s", english.Count(without[status], "report"), status)
	}
	if err := x.formats.show(e, t); err != nil {
		return err
	}
	if labels != nil {
		if err := agreement.Table().WriteTitled(e.stderr); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(verdicts, func(v *build.Verdict) bool { return v.Status == build.Judged }) {
		return fmt.Errorf("none of %d reports has an alignment", len(reports))
	}
	return nil
}

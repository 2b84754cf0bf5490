package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

// Failure is a way in which a report of errors fails (InstructScore, table 2).
type Failure string

// The failures. Local ones make one field of an error wrong, global ones all.
const (
	M1 Failure = "M1" // the type is not consistent with the explanation
	M2 Failure = "M2" // the location is not consistent with the explanation
	M3 Failure = "M3" // the location is not in the output
	M4 Failure = "M4" // the explanation quotes as the output's what is not in it
	M5 Failure = "M5" // the severity is another one
	M6 Failure = "M6" // the explanation is wrong, though there is an error
	G1 Failure = "G1" // there is no error
	G2 Failure = "G2" // an earlier error of the report is the same
	G3 Failure = "G3" // the wrong phrase and the right one are not aligned
	G4 Failure = "G4" // one error mentions several
)

// Failures lists them.
func Failures() []Failure { return []Failure{M1, M2, M3, M4, M5, M6, G1, G2, G3, G4} }

// Unmeasured are those that no question asks for.
func Unmeasured() []Failure { return []Failure{M6} }

// fieldsOfError are the fields that a failure can make wrong: type, location,
// severity and explanation.
const fieldsOfError = 4

// field is the field that a local failure makes wrong; all of them (−1) for a
// global one.
func (f Failure) field() int {
	switch f {
	case M1:
		return 0
	case M2, M3:
		return 1
	case M5:
		return 2
	case M4, M6:
		return 3
	}
	return -1
}

// Alignment counts the fields that are right, of all fields, of the errors of a
// report with these failures. Their ratio is the alignment score of section 4.2.
func Alignment(failures [][]Failure) (right, fields int) {
	for _, of := range failures {
		var wrong [fieldsOfError]bool
		for _, f := range of {
			for i := range wrong {
				wrong[i] = wrong[i] || f.field() < 0 || f.field() == i
			}
		}
		for _, w := range wrong {
			if fields++; !w {
				right++
			}
		}
	}
	return right, fields
}

// What became of a report.
const (
	Judged     = "judged"
	Unreported = "no-report" // it has no score, so that there is nothing to ask about
	NoTexts    = "no-texts"  // its output or its reference is not known
)

// Verdict is the feedback on one report.
type Verdict struct {
	// Status is Judged, Unreported, NoTexts, RuleNoAnswer, RuleCut or
	// RuleMalformed.
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Errors are the failures of each error.
	Errors [][]Failure `json:"failures"`
	Right  int         `json:"right"`
	Fields int         `json:"fields"`
	// Alignment is Right of Fields; of a report without errors 1 where there
	// are none, else 0. It is nil unless Judged.
	Alignment *float64 `json:"alignment"`
	Answer    string   `json:"answer,omitempty"` // of the teacher, as it came
}

// score sets the alignment.
func (v *Verdict) score() {
	v.Status = Judged
	v.Right, v.Fields = Alignment(v.Errors)
	a := float64(v.Right) / float64(v.Fields)
	v.Alignment = &a
}

// Steps of the recipe of feedback.
const stepNoErrors = "no-errors"

// Feedback asks a model what is wrong with reports.
type Feedback struct {
	Recipe  *Recipe
	Teacher *Teacher
}

// On returns a verdict for each report, in order; nil where a teacher that looks
// ahead has no answer.
func (f *Feedback) On(ctx context.Context, reports []*audit.Reported) ([]*Verdict, error) {
	out := make([]*Verdict, len(reports))
	var with, without []*Dialogue
	for i, r := range reports {
		step := stepErrors
		switch {
		case !r.Report.Outcome.HasScore():
			out[i] = &Verdict{Status: Unreported, Detail: strings.TrimSpace(string(r.Report.Outcome) + " " + r.Report.Detail)}
			continue
		case !r.HasTexts:
			out[i] = &Verdict{Status: NoTexts, Detail: "the output or the reference is not known"}
			continue
		case len(r.Report.Errors) == 0:
			step = stepNoErrors
		}
		prompt, err := f.Recipe.Prompt(step, nil, questioned(r))
		if err != nil {
			return nil, err
		}
		d := &Dialogue{At: i, About: r.String(), Prompts: []string{prompt}}
		if step == stepNoErrors {
			without = append(without, d)
		} else {
			with = append(with, d)
		}
	}
	for _, s := range []struct {
		step string
		of   []*Dialogue
	}{{stepErrors, with}, {stepNoErrors, without}} {
		each := func(yield func(*Dialogue) bool) {
			for _, d := range s.of {
				if !yield(d) {
					return
				}
			}
		}
		err := f.Teacher.All(ctx, s.step, f.Recipe.Steps[s.step].Sampling, each, func(d *Dialogue) error {
			out[d.At] = verdictOf(reports[d.At], d)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// questioned are the data of a prompt about a report.
func questioned(r *audit.Reported) map[string]any {
	type numbered struct {
		Number                      int
		Location, Type, Explanation string
	}
	var list []numbered
	for i, e := range r.Report.Errors {
		list = append(list, numbered{i + 1, e.Location, strings.TrimSpace(e.Dimension + " " + e.Aspect), e.Explanation})
	}
	return map[string]any{"Reference": r.Texts.Reference, "Output": r.Texts.Hypothesis, "Errors": list}
}

// verdictOf reads the answer about a report.
func verdictOf(r *audit.Reported, d *Dialogue) *Verdict {
	v := &Verdict{Status: d.Rule, Detail: d.Detail, Errors: [][]Failure{}}
	if len(d.Answers) > 0 {
		v.Answer = d.Last()
	}
	switch {
	case d.Rule != "":
	case len(r.Report.Errors) == 0:
		found, answered := answer.YesOrNo(v.Answer)
		if !answered {
			v.Status, v.Detail = RuleMalformed, "the answer is neither Yes nor No"
			break
		}
		v.Status, v.Alignment = Judged, new(1.0)
		if found {
			v.Alignment = new(0.0)
		}
	default:
		answers, err := answer.ReadFeedback(v.Answer, len(r.Report.Errors))
		if err != nil {
			v.Status, v.Detail = RuleMalformed, err.Error()
			break
		}
		v.Errors = failuresOf(&r.Report, r.Texts, answers)
		v.score()
	}
	return v
}

// failuresOf are the failures of each error: those that the answers tell (section
// 4.2), and those that can be looked up.
func failuresOf(report *analysis.Report, texts analysis.Texts, f *answer.Feedback) [][]Failure {
	report.Locate(texts)
	report.Check(texts, analysis.Rules{})
	found := make([]map[Failure]bool, len(report.Errors))
	for i := range found {
		found[i] = map[Failure]bool{}
	}
	looked := map[string]Failure{
		analysis.CodeLocation: M3, analysis.CodeExplanation: M4, analysis.CodeRepeated: G2, analysis.CodeCorrection: G1,
	}
	for _, p := range report.Problems {
		if failure, is := looked[p.Code]; is && p.Error != nil {
			found[*p.Error][failure] = true
		}
	}
	for i := range report.Errors {
		e, q, set := &report.Errors[i], &f.Errors[i], found[i]
		set[M1] = !q.Typed
		set[M2] = !q.Located
		set[M3] = set[M3] || missing(q.Location, texts)
		for _, p := range q.Phrases {
			set[M4] = set[M4] || missing(p.Incorrect, texts)
		}
		set[G1] = set[G1] || q.NoError
		set[M5] = !q.NoError && q.Weight != "" && e.Severity != "" && (q.Weight == analysis.Minor) != (e.Severity == analysis.Minor)
		set[G3] = q.Aligned != nil && !*q.Aligned
		set[G4] = len(q.Phrases) > 1
	}
	repeat(found, f)
	out := make([][]Failure, len(found))
	for i, set := range found {
		out[i] = []Failure{}
		for _, failure := range Failures() {
			if set[failure] {
				out[i] = append(out[i], failure)
			}
		}
	}
	return out
}

// missing reports whether a phrase that is stated stands nowhere in the output.
func missing(phrase string, texts analysis.Texts) bool {
	if phrase == "" {
		return false
	}
	r := &analysis.Report{Errors: []analysis.Error{{Location: phrase}}}
	r.Locate(texts)
	place := r.Errors[0].Place
	return place == analysis.Absent || place == analysis.InSource
}

// repeat finds the errors that are repeated: Q7 says how many pairs, and not
// which. Beside those that the checks found, they are the later ones of an equal
// location, and else the last ones.
func repeat(found []map[Failure]bool, f *answer.Feedback) {
	left := min(f.Repeated, len(found)-1)
	for _, set := range found {
		if set[G2] {
			left--
		}
	}
	seen := map[string]bool{}
	for i, set := range found {
		at := folded(f.Errors[i].Location)
		if left > 0 && at != "" && seen[at] && !set[G2] {
			set[G2] = true
			left--
		}
		seen[at] = true
	}
	for i := len(found) - 1; i > 0 && left > 0; i-- {
		if !found[i][G2] {
			found[i][G2] = true
			left--
		}
	}
}

// Labels are the failures that people found in a report.
type Labels struct {
	Failures  [][]Failure `json:"failures"`
	Alignment *float64    `json:"alignment"`
}

// Check says what is wrong with labels.
func (l *Labels) Check() error {
	for _, of := range l.Failures {
		for _, f := range of {
			if !slices.Contains(Failures(), f) {
				return fmt.Errorf("unknown failure %q; there are %v", f, Failures())
			}
		}
	}
	if len(l.Failures) == 0 && l.Alignment == nil {
		return errors.New(`there are neither "failures" nor an "alignment"`)
	}
	return nil
}

// Agreement compares verdicts with labels.
type Agreement struct {
	Reports   int // that both judged
	Unlabeled int // labels without a verdict
	pairs     map[Failure][][]float64
	alignment [][]float64
}

// Add compares a verdict with the labels of the same report.
func (a *Agreement) Add(v *Verdict, l *Labels) error {
	if v.Status != Judged {
		a.Unlabeled++
		return nil
	}
	if len(l.Failures) != len(v.Errors) {
		return fmt.Errorf("the labels are of %d errors, and the report has %d", len(l.Failures), len(v.Errors))
	}
	a.Reports++
	if a.pairs == nil {
		a.pairs = map[Failure][][]float64{}
	}
	has := func(all []Failure, f Failure) float64 {
		if slices.Contains(all, f) {
			return 1
		}
		return 0
	}
	for i := range v.Errors {
		for _, f := range Failures() {
			a.pairs[f] = append(a.pairs[f], []float64{has(v.Errors[i], f), has(l.Failures[i], f)})
		}
	}
	by := l.Alignment
	if by == nil && len(l.Failures) > 0 {
		right, fields := Alignment(l.Failures)
		by = new(float64(right) / float64(fields))
	}
	if by != nil {
		a.alignment = append(a.alignment, []float64{*v.Alignment, *by})
	}
	return nil
}

// Agreed is how far the model and people agree on a failure.
type Agreed struct {
	Errors        int // that both judged
	Model, People int // how many have it by each
	Both          int
	Alpha         float64 // Krippendorff's; only if Defined
	Defined       bool
}

// On returns the agreement on a failure.
func (a *Agreement) On(f Failure) Agreed {
	out := Agreed{Errors: len(a.pairs[f])}
	for _, p := range a.pairs[f] {
		out.Model += int(p[0])
		out.People += int(p[1])
		out.Both += int(p[0] * p[1])
	}
	out.Alpha, out.Defined = analysis.Alpha(a.pairs[f], false)
	return out
}

// OnAlignment is Krippendorff's alpha of the alignment scores, if there is one,
// and how many reports it is of.
func (a *Agreement) OnAlignment() (alpha float64, defined bool, reports int) {
	alpha, defined = analysis.Alpha(a.alignment, false)
	return alpha, defined, len(a.alignment)
}

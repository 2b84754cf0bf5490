package build

import (
	"context"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

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
	Errors [][]analysis.Failure `json:"failures"`
	Right  int                  `json:"right"`
	Fields int                  `json:"fields"`
	// Alignment is Right of Fields; of a report without errors 1 where there
	// are none, else 0. It is nil unless Judged.
	Alignment *float64 `json:"alignment"`
	Answer    string   `json:"answer,omitempty"` // of the teacher, as it came
}

// score sets the alignment.
func (v *Verdict) score() {
	v.Status = Judged
	v.Right, v.Fields = analysis.Alignment(v.Errors)
	a := float64(v.Right) / float64(v.Fields)
	v.Alignment = &a
}

// Steps of the recipe of feedback.
const stepNoErrors = "no-errors"

// tokensOfError is room for the answers about an error, several times what they
// take. A small model that repeats itself is stopped there.
const tokensOfError = 512

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
		d := &Dialogue{At: i, About: r.String(), Prompts: []string{prompt}, MaxTokens: tokensOfError * len(r.Report.Errors)}
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
	v := &Verdict{Status: d.Rule, Detail: d.Detail, Errors: [][]analysis.Failure{}}
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
		answers, err := answer.ReadFeedback(v.Answer, len(r.Report.Errors), func(phrase string) bool { return !missing(phrase, r.Texts) })
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
func failuresOf(of *analysis.Report, texts analysis.Texts, f *answer.Feedback) [][]analysis.Failure {
	report := &analysis.Report{Outcome: of.Outcome, Errors: slices.Clone(of.Errors)} // of keeps what was found in it before
	report.Locate(texts)
	report.Check(texts, analysis.Rules{})
	found := make([]map[analysis.Failure]bool, len(report.Errors))
	for i := range found {
		found[i] = map[analysis.Failure]bool{}
	}
	looked := map[string]analysis.Failure{
		analysis.CodeLocation: analysis.M3, analysis.CodeExplanation: analysis.M4, analysis.CodeRepeated: analysis.G2, analysis.CodeCorrection: analysis.G1,
	}
	for _, p := range report.Problems {
		if failure, is := looked[p.Code]; is && p.Error != nil {
			found[*p.Error][failure] = true
		}
	}
	for i := range report.Errors {
		e, q, set := &report.Errors[i], &f.Errors[i], found[i]
		set[analysis.M1] = !q.Typed
		set[analysis.M2] = !q.Located
		set[analysis.M3] = set[analysis.M3] || missing(q.Location, texts)
		for _, p := range q.Phrases {
			set[analysis.M4] = set[analysis.M4] || missing(p.Incorrect, texts)
		}
		set[analysis.G1] = set[analysis.G1] || q.NoError
		set[analysis.M5] = !q.NoError && q.Weight != "" && e.Severity != "" && (q.Weight == analysis.Minor) != (e.Severity == analysis.Minor)
		set[analysis.G3] = q.Aligned != nil && !*q.Aligned
		set[analysis.G4] = len(q.Phrases) > 1
	}
	repeat(found, f)
	out := make([][]analysis.Failure, len(found))
	for i, set := range found {
		out[i] = []analysis.Failure{}
		for _, failure := range analysis.Failures() {
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
func repeat(found []map[analysis.Failure]bool, f *answer.Feedback) {
	left := min(f.Repeated, len(found)-1)
	for _, set := range found {
		if set[analysis.G2] {
			left--
		}
	}
	seen := map[string]bool{}
	for i, set := range found {
		at := folded(f.Errors[i].Location)
		if left > 0 && at != "" && seen[at] && !set[analysis.G2] {
			set[analysis.G2] = true
			left--
		}
		seen[at] = true
	}
	for i := len(found) - 1; i > 0 && left > 0; i-- {
		if !found[i][analysis.G2] {
			found[i][analysis.G2] = true
			left--
		}
	}
}

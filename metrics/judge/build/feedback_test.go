package build

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

const feedbackOutput = "State-owned enterprises and dominant private enterprises entered the old revolutionary district of southern Jiangxi."

// Each question tells its failure.
func TestFailures(t *testing.T) {
	good := `{"Q1": "dominant", "Q2": ["dominant", "advantageous"], "Q3": "Yes", "Q4": "minor-error", "Q5": "Yes", "Q6": "Yes"}`
	change := func(old, to string) string { return strings.Replace(good, old, to, 1) }
	report := func() *analysis.Report {
		return &analysis.Report{Outcome: analysis.Scored, Errors: []analysis.Error{
			{Location: "dominant", Aspect: "Addition", Severity: analysis.Minor, Explanation: `"dominant" is used instead of "advantageous".`},
			{Location: "old revolutionary district", Aspect: "Terminology", Severity: analysis.Major, Explanation: "The term is not the usual one."},
		}}
	}
	second := `{"Q1": "old revolutionary district", "Q2": ["None", "None"], "Q3": "None", "Q4": "major-error", "Q5": "Yes", "Q6": "Yes"}`
	for _, test := range []struct {
		name, first, q7 string
		want            [][]analysis.Failure
	}{
		{"nothing", good, "No, 0", [][]analysis.Failure{{}, {}}},
		{"Q5", change(`"Q5": "Yes"`, `"Q5": "No"`), "No, 0", [][]analysis.Failure{{analysis.M1}, {}}},
		{"Q6", change(`"Q6": "Yes"`, `"Q6": "No"`), "No, 0", [][]analysis.Failure{{analysis.M2}, {}}},
		{"Q1 is looked up", change(`"Q1": "dominant"`, `"Q1": "leading"`), "No, 0", [][]analysis.Failure{{analysis.M3}, {}}},
		{"Q2 is looked up", change(`["dominant"`, `["leading"`), "No, 0", [][]analysis.Failure{{analysis.M4}, {}}},
		{"Q4, severity", change("minor-error", "major-error"), "No, 0", [][]analysis.Failure{{analysis.M5}, {}}},
		{"Q4, none", change("minor-error", "no-error"), "No, 0", [][]analysis.Failure{{analysis.G1}, {}}},
		{"Q3", change(`"Q3": "Yes"`, `"Q3": "No"`), "No, 0", [][]analysis.Failure{{analysis.G3}, {}}},
		{"Q2, several", change(`["dominant", "advantageous"]`, `[["dominant", "advantageous"], ["enterprises", "firms"]]`), "No, 0", [][]analysis.Failure{{analysis.G4}, {}}},
		{"Q7", good, "Yes, 1", [][]analysis.Failure{{}, {analysis.G2}}},
	} {
		f, err := answer.ReadFeedback(`{"Err1": `+test.first+`, "Err2": `+second+`, "Q7": "`+test.q7+`"}`, 2, func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		got := failuresOf(report(), analysis.Texts{Hypothesis: feedbackOutput, Reference: "Advantageous private enterprises entered the base."}, f)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// A pair in a string is no wrong phrase, and an answer that nobody can read no failure.
func TestVerdictOfStrings(t *testing.T) {
	r := &audit.Reported{HasTexts: true, Texts: analysis.Texts{Hypothesis: feedbackOutput, Reference: "Advantageous private enterprises entered the base."}, Report: analysis.Report{
		Outcome: analysis.Scored, Errors: []analysis.Error{{Location: "dominant", Aspect: "Terminology", Severity: analysis.Minor, Explanation: "The term is not the usual one."}},
	}}
	verdict := func(q2, q4 string) *Verdict {
		return verdictOf(r, &Dialogue{Answers: []string{`{"Err1": {"Q1": "dominant", "Q2": "` + q2 + `", "Q3": "Yes", "Q4": "` + q4 + `", "Q5": "Yes", "Q6": "Yes"}}`}})
	}
	for _, q2 := range []string{"[dominant, advantageous]", "[None, None]", "dominant"} {
		if v := verdict(q2, "minor-error"); v.Status != Judged || *v.Alignment != 1 {
			t.Errorf("%s: %+v", q2, v)
		}
	}
	for _, v := range []*Verdict{verdict("dominant, advantageous", "minor-error"), verdict("dominant to advantageous", "minor-error"), verdict("None", "no-error|minor-error")} {
		if v.Status != RuleMalformed || v.Alignment != nil {
			t.Errorf("%+v", v)
		}
	}
	r.Report.Errors = nil
	if v := verdictOf(r, &Dialogue{Answers: []string{"No errors? Yes, it contains an error."}}); v.Status != RuleMalformed {
		t.Errorf("%+v", v)
	}
}

// The prompt has the words of table 34.
func TestFeedbackPrompt(t *testing.T) {
	r := &audit.Reported{Texts: analysis.Texts{Reference: "R.", Hypothesis: "O."}, Report: analysis.Report{Errors: []analysis.Error{
		{Location: "old revolutionary district", Aspect: "Terminology", Explanation: "E."},
	}}}
	recipe := loaded(t, "feedback")
	got, err := recipe.Prompt(stepErrors, nil, questioned(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Ref: R.\nOut: O.\nError1:\nError location 1: \"old revolutionary district\"\nError type 1: Terminology\nExplanation 1: E.\n\nQ1: For each error location, extract the incorrect error location.\nA1:\n",
		"If an error can be fixed by reading the rest of the output context it is a minor-error.",
		"\nA7: Yes/No, number\n\nThe output format will be in JSON\n{Err1: {Q1: A1, Q2: A2, Q3: A3, Q4: A4, Q5: A5, Q6: A6}, Q7: A7}",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got, err = recipe.Prompt(stepNoErrors, nil, questioned(r))
	if want := "Reference: R.\n\nOutput: O.\n\nCompared to the reference, does the output contain any error? (Answer in Yes/No)"; got != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAgreement(t *testing.T) {
	a := &Agreement{}
	verdict := func(failures ...[]analysis.Failure) *Verdict {
		v := &Verdict{Errors: failures}
		v.score()
		return v
	}
	for _, pair := range [][2]*Verdict{
		{verdict([]analysis.Failure{analysis.M1}, []analysis.Failure{}), verdict([]analysis.Failure{analysis.M1}, []analysis.Failure{analysis.G1})},
		{verdict([]analysis.Failure{analysis.G1}), verdict([]analysis.Failure{analysis.G1})},
		{verdict([]analysis.Failure{}), verdict([]analysis.Failure{})},
	} {
		if err := a.Add(pair[0], &audit.Feedback{Failures: pair[1].Errors, Alignment: *pair[1].Alignment}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Add(verdict([]analysis.Failure{}), &audit.Feedback{}); err == nil {
		t.Error("labels of no error are taken for one")
	}
	if err := a.Add(&Verdict{Status: RuleCut}, &audit.Feedback{}); err != nil || a.Unlabeled != 1 {
		t.Errorf("%v, %d", err, a.Unlabeled)
	}
	if got := a.On(analysis.G1); got.Errors != 4 || got.Model != 1 || got.People != 2 || got.Both != 1 || math.IsNaN(got.Alpha) {
		t.Errorf("%+v", got)
	}
	if got := a.On(analysis.M1); got.Alpha != 1 || got.Both != 1 {
		t.Errorf("%+v", got)
	}
	if got := a.On(analysis.M6); !math.IsNaN(got.Alpha) {
		t.Errorf("%+v", got)
	}
	if rows := a.Table().Rows; len(rows) != len(analysis.Failures())+1 || len(a.alignment) != 3 {
		t.Errorf("%v", rows)
	}
}

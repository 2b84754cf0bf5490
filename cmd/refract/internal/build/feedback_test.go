package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

const feedbackOutput = "State-owned enterprises and dominant private enterprises entered the old revolutionary district of southern Jiangxi."

// Each question detects its failure: an M failure makes one field wrong, a G failure all four.
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
		wrong           int // of 8 fields
	}{
		{"nothing", good, "No, 0", 0},
		{"Q5", change(`"Q5": "Yes"`, `"Q5": "No"`), "No, 0", 1},
		{"Q6", change(`"Q6": "Yes"`, `"Q6": "No"`), "No, 0", 1},
		{"Q1 is looked up", change(`"Q1": "dominant"`, `"Q1": "leading"`), "No, 0", 1},
		{"Q2 is looked up", change(`["dominant"`, `["leading"`), "No, 0", 1},
		{"Q4, severity", change("minor-error", "major-error"), "No, 0", 1},
		{"Q4, none", change("minor-error", "no-error"), "No, 0", 4},
		{"Q3", change(`"Q3": "Yes"`, `"Q3": "No"`), "No, 0", 4},
		{"Q2, several", change(`["dominant", "advantageous"]`, `[["dominant", "advantageous"], ["enterprises", "firms"]]`), "No, 0", 4},
		{"Q7", good, "Yes, 1", 4},
	} {
		f, err := answer.ReadFeedback(`{"Err1": `+test.first+`, "Err2": `+second+`, "Q7": "`+test.q7+`"}`, 2, func(string) bool { return false })
		require.NoError(t, err)
		it := &Item{Hypothesis: feedbackOutput, Reference: "Advantageous private enterprises entered the base.", Errors: report().Errors, report: report()}
		got := it.alignment(f)
		assert.Equal(t, float64(8-test.wrong)/8, got, test.name)
	}
}

// The prompt has the words of table 34.
func TestFeedbackPrompt(t *testing.T) {
	it := &Item{Reference: "R.", Hypothesis: "O.", Errors: []analysis.Error{{Location: "old revolutionary district", Aspect: "Terminology", Explanation: "E."}}}
	recipe := loaded(t, Refine)
	got, err := recipe.Prompt(stepErrors, nil, questions(it))
	require.NoError(t, err)
	for _, want := range []string{
		"Ref: R.\nOut: O.\nError1:\nError location 1: \"old revolutionary district\"\nError type 1: Terminology\nExplanation 1: E.\n\nQ1: For each error location, extract the incorrect error location.\nA1:\n",
		"If an error can be fixed by reading the rest of the output context it is a minor-error.",
		"\nA7: Yes/No, number\n\nThe output format will be in JSON\n{Err1: {Q1: A1, Q2: A2, Q3: A3, Q4: A4, Q5: A5, Q6: A6}, Q7: A7}",
	} {
		assert.Contains(t, got, want)
	}
	got, err = recipe.Prompt(stepNoErrors, nil, questions(it))
	if want := "Reference: R.\n\nOutput: O.\n\nCompared to the reference, does the output contain any error? (Answer in Yes/No)"; got != want {
		t.Errorf("%q, %v", got, err)
	}
}

package answer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

func count(n int) *int { return &n }

func known(e analysis.Error, penalty float64) analysis.Error {
	e.Penalty = &penalty
	return e
}

// The answers are invented, in the forms that judges write. Detail and Raw are not compared,
// only whether there is a remark.
func TestErrorLists(t *testing.T) {
	tiger := answer.Spec{Kind: answer.TIGERScore}
	stated := answer.Spec{Kind: answer.TIGERScore, Total: "stated"}
	instruct := answer.Spec{Kind: answer.InstructScore}
	xgpt := answer.Spec{Kind: answer.Errors, Form: answer.XGPTScore}
	mqm := answer.Spec{Kind: answer.Errors, Form: answer.MQM}
	boat := analysis.Error{Location: "the boat", Aspect: "Terminology", Severity: analysis.Major, Explanation: "It is a ship."}
	item := func(n, penalty string) string {
		return strings.NewReplacer("#", n, "$", penalty).Replace("\nError location #: \"the boat\"\nError aspect #: Terminology\nExplanation #: It is a ship.\nSeverity #: Major\nScore reduction #: $")
	}
	for _, test := range []struct {
		name   string
		spec   answer.Spec
		text   string
		want   analysis.Report
		remark bool
	}{
		{"tiger, the sum counts, not the total", tiger, "The model-generated output contains 2 errors, with a total score reduction of 10.0." + item("1", "4") + item("2", "0.5"),
			analysis.Report{Outcome: analysis.Scored, Score: new(-4.5), StatedErrors: count(2), StatedTotal: at(10), Errors: []analysis.Error{known(boat, 4), known(boat, 0.5)}}, false},
		{"tiger, no total and no explanation", tiger, "The model-generated output contains 1 errors.\nError location 1: the boat\nError aspect 1: Terminology\nSeverity 1: Major\nScore reduction 1: -4",
			analysis.Report{Outcome: analysis.Scored, Score: new(-4.0), StatedErrors: count(1), Errors: []analysis.Error{
				known(analysis.Error{Location: "the boat", Aspect: "Terminology", Severity: analysis.Major}, 4)}}, false},
		{"tiger, values on the next line, explanation with a wrong label", tiger, "The model-generated output contains 2 errors, with a total score reduction of 5.\nError location 1:\n\"the boat\"\nError aspect 1:\nTerminology\nExplanation 1: Three things:\n\n- It is a ship.\nError location 7: none\nSeverity 2: no\nError location 2: quoted too early\nSeverity 1: Major\nScore reduction 1: 4" + item("2", "1"),
			analysis.Report{Outcome: analysis.Scored, Score: new(-5.0), StatedErrors: count(2), StatedTotal: at(5), Errors: []analysis.Error{
				known(analysis.Error{Location: "the boat", Aspect: "Terminology", Severity: analysis.Major, Explanation: "Three things:\n\n- It is a ship.\nError location 7: none\nSeverity 2: no\nError location 2: quoted too early"}, 4),
				known(boat, 1)}}, false},
		{"tiger, prompt before the answer", tiger, "You are evaluating errors in a model-generated output for a given instruction.\nInstruction: \nSay it.\n\nModel-generated Output: \nYour evaluation output:\nThe model-generated output contains 0 errors, with a total score reduction of 0.\n\nYour evaluation output:\nThe model-generated output contains 1 errors, with a total score reduction of 2." + item("1", "2"),
			analysis.Report{Outcome: analysis.Scored, Score: new(-2.0), StatedErrors: count(1), StatedTotal: at(2), Errors: []analysis.Error{known(boat, 2)}}, true},
		{"tiger, two reports", tiger, "The model-generated output contains 1 errors, with a total score reduction of 2." + item("1", "2") + "\nThe model-generated output contains 1 errors, with a total score reduction of 3." + item("1", "3"),
			analysis.Report{Outcome: analysis.Unparseable, StatedErrors: count(1), StatedTotal: new(2.0)}, true},
		{"tiger, no statement", tiger, item("1", "2"), analysis.Report{Outcome: analysis.Scored, Score: new(-2.0), Errors: []analysis.Error{known(boat, 2)}}, true},
		{"tiger, no error", tiger, "The model-generated output contains 0 errors, with a total score reduction of 0.",
			analysis.Report{Outcome: analysis.NoError, Score: new(0.0), StatedErrors: count(0), StatedTotal: at(0)}, false},
		{"tiger, no error but a total", tiger, "The model-generated output contains 0 errors, with a total score reduction of 3.",
			analysis.Report{Outcome: analysis.Unparseable, StatedErrors: count(0), StatedTotal: at(3)}, true},
		{"tiger, no items", tiger, "The model-generated output contains 2 errors, with a total score reduction of 3.",
			analysis.Report{Outcome: analysis.Unparseable, StatedErrors: count(2), StatedTotal: at(3)}, true},
		{"tiger, a reduction is missing", tiger, "The model-generated output contains 2 errors, with a total score reduction of 6." + item("1", "4") + item("2", "N/A"),
			analysis.Report{Outcome: analysis.Unparseable, StatedErrors: count(2), StatedTotal: at(6), Errors: []analysis.Error{known(boat, 4), boat}}, true},
		{"tiger, the stated total", stated, "The model-generated output contains 2 errors, with a total score reduction of 10.0." + item("1", "4") + item("2", "0.5"),
			analysis.Report{Outcome: analysis.Scored, Score: new(-10.0), StatedErrors: count(2), StatedTotal: at(10), Errors: []analysis.Error{known(boat, 4), known(boat, 0.5)}}, true},
		{"tiger, the stated total is the sum", stated, "The model-generated output contains 1 error, with a total score reduction of 4.5." + item("1", "4.5"),
			analysis.Report{Outcome: analysis.Scored, Score: new(-4.5), StatedErrors: count(1), StatedTotal: at(4.5), Errors: []analysis.Error{known(boat, 4.5)}}, false},
		{"tiger, no total stated", stated, "The model-generated output contains 1 errors." + item("1", "4"),
			analysis.Report{Outcome: analysis.Unparseable, StatedErrors: count(1), Errors: []analysis.Error{known(boat, 4)}}, true},
		{"tiger, about something else", tiger, "The reference contains no errors.", analysis.Report{Outcome: analysis.Unparseable}, true},
		{"tiger, no errors but", tiger, "The output contains no errors in its first half.", analysis.Report{Outcome: analysis.Unparseable}, true},
		{"instruct, dimensions, two spaces, N/A, a wrong label", instruct, "Your generation contains 2 errors:\nError dimension 1: Fluency\nError type 1: Terminology\nMajor/minor:  Major\nError location 1: the boat\nExplanation for error 1: It is a ship.\nError type 9: this is no item\nError dimension 2: N/A\nError type 2: Repetition\nMajor/minor:  Minor\nError location 2: N/A\nError explanation 2: N/A",
			analysis.Report{Outcome: analysis.Scored, Score: new(-6.0), StatedErrors: count(2), Errors: []analysis.Error{
				known(analysis.Error{Location: "the boat", Aspect: "Terminology", Dimension: "Fluency", Severity: analysis.Major, Explanation: "It is a ship.\nError type 9: this is no item"}, 5),
				known(analysis.Error{Aspect: "Repetition", Severity: analysis.Minor}, 1)}}, false},
		{"instruct, no error", instruct, "Your Translation contains no error.", analysis.Report{Outcome: analysis.NoError, Score: new(0.0), StatedErrors: count(0)}, false},
		{"instruct, all N/A", instruct, "Your generation contains 1 errors:\nError dimension 1: N/A\nError type 1: N/A\nMajor/minor:  N/A\nError location 1: N/A\nExplanation for error 1: N/A",
			analysis.Report{Outcome: analysis.NoError, Score: new(0.0), StatedErrors: count(1)}, true},
		{"instruct, cut in the second error", instruct, "Your Translation contains 3 errors:\nError type 1: Terminology\nMajor/minor: Major\nError location 1: \"the boat\"\nExplanation for error 1: It is a ship.\nError type 2: Omission\nMajor/minor: Minor\nError location 2: \"the",
			analysis.Report{Outcome: analysis.Scored, Score: new(-6.0), StatedErrors: count(3), Errors: []analysis.Error{
				known(boat, 5), known(analysis.Error{Location: "\"the", Aspect: "Omission", Severity: analysis.Minor}, 1)}}, true},
		{"instruct, an error without a severity", instruct, "Your Translation contains 2 errors:\nError type 1: Terminology\nMajor/minor: Major\nError location 1: \"the boat\"\nExplanation for error 1: It is a ship.\nError type 2: Omission",
			analysis.Report{Outcome: analysis.Scored, Score: new(-5.0), StatedErrors: count(2), Errors: []analysis.Error{known(boat, 5), {Aspect: "Omission"}}}, true},
		{"instruct, no severity at all", instruct, "Your Translation contains 1 error:\nError type 1: Omission\nMajor/minor: Major/minor",
			analysis.Report{Outcome: analysis.Unparseable, StatedErrors: count(1), Errors: []analysis.Error{{Aspect: "Omission"}}}, true},
		{"instruct, prompt before the answer", instruct, "You are evaluating RDF-to-text task. The model generated output is \"Your Translation contains no error.\". Major errors can confuse or mislead the reader due to significant change in meaning, while minor errors don't lead to loss of meaning but will be noticed.Your generation contains 1 errors:\nError type 1: Terminology\nMajor/minor:  Major\nError location 1: the boat\nExplanation for error 1: It is a ship.",
			analysis.Report{Outcome: analysis.Scored, Score: new(-5.0), StatedErrors: count(1), Errors: []analysis.Error{known(boat, 5)}}, true},
		{"xgpt, object", xgpt, `{"errors": {"error_1": {"error_location": "the boat", "error_aspect": "Terminology", "explanation": "It is a ship.", "severity": "Major", "score_reduction": 4.0}, "error_2": {"error_location": "the boat", "error_aspect": "Terminology", "explanation": "It is a ship.", "severity": "major", "score_reduction": "0.5"}}}`,
			analysis.Report{Outcome: analysis.Scored, Score: new(-4.5), Errors: []analysis.Error{known(boat, 4), known(boat, 0.5)}}, false},
		{"xgpt, fenced list with a trailing comma", xgpt, "Sure.\n```json\n{\"errors\": [{\"error_location\": \"the boat\", \"error_aspect\": \"Terminology\", \"explanation\": \"It is a ship.\", \"severity\": \"Major\", \"score_reduction\": 4},]}\n```",
			analysis.Report{Outcome: analysis.Scored, Score: new(-4.0), Errors: []analysis.Error{known(boat, 4)}}, true},
		{"xgpt, single quotes keep the order", xgpt, `{'errors': {'error_10': {'error_location': "it's", 'score_reduction': 4.0}, 'error_2': {'error_location': 'b', 'score_reduction': 1}}}`,
			analysis.Report{Outcome: analysis.Scored, Score: new(-5.0), Errors: []analysis.Error{known(analysis.Error{Location: "it's"}, 4), known(analysis.Error{Location: "b"}, 1)}}, true},
		{"xgpt, one name twice is two errors", xgpt, `{"errors": {"error_1": {"error_location": "a", "score_reduction": 4.0}, "error_1": {"error_location": "b", "score_reduction": 1}}}`,
			analysis.Report{Outcome: analysis.Scored, Score: new(-5.0), Errors: []analysis.Error{known(analysis.Error{Location: "a"}, 4), known(analysis.Error{Location: "b"}, 1)}}, false},
		{"xgpt, no error", xgpt, `{"errors": {}}`, analysis.Report{Outcome: analysis.NoError, Score: new(0.0)}, false},
		{"xgpt, null", xgpt, `{"errors": null}`, analysis.Report{Outcome: analysis.Unparseable}, true},
		{"xgpt, strings", xgpt, `{"errors": ["a", "b"]}`, analysis.Report{Outcome: analysis.Unparseable}, true},
		{"xgpt, all N/A", xgpt, `{"errors": {"error_1": {"error_location": "N/A", "severity": "N/A", "score_reduction": 0}}}`, analysis.Report{Outcome: analysis.NoError, Score: new(0.0)}, true},
		{"xgpt, cut", xgpt, `{"errors": {"error_1": {"error_location": "a", "score_reduction": 4}, "error_2": {"error_lo`, analysis.Report{Outcome: analysis.Unparseable}, true},
		{"xgpt, two lists", xgpt, `{"errors": []} or {"errors": [{"error_location": "a", "score_reduction": 4}]}`, analysis.Report{Outcome: analysis.Unparseable}, true},

		{"mqm", mqm, `{"errors": [{"span": "the boat", "category": "Terminology", "explanation": "It is a ship.", "severity": "major"}, {"span": "b", "category": "", "severity": "Critical"}, {"span": "c", "severity": "neutral"}]}`,
			analysis.Report{Outcome: analysis.Scored, Score: new(-30.0), Errors: []analysis.Error{
				known(boat, 5), known(analysis.Error{Location: "b", Severity: analysis.Critical}, 25), known(analysis.Error{Location: "c"}, 0)}}, false},
		{"mqm, unknown severity", mqm, `{"errors": [{"span": "b", "severity": "dreadful"}]}`, analysis.Report{Outcome: analysis.Unparseable, Errors: []analysis.Error{{Location: "b"}}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := *parser(t, test.spec).Parse(test.text)
			assert.Equal(t, test.text, *got.Raw, "the raw text is not the answer")
			assert.Equal(t, test.remark, (got.Detail != ""), "the remark is %q", got.Detail)
			got.Raw, got.Detail = nil, ""
			assert.Empty(t, cmp.Diff(test.want, got))
		})
	}
}

package answer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// paperFeedback is the answer of table 34.
const paperFeedback = `{ "Err1": { "Q1": "old revolutionary district", "Q2": ["old revolutionary district", "new revolutionary base area"], "Q3": "Yes", "Q4": "major-error", "Q5": "Yes", "Q6": "Yes" }, "Err2": { "Q1": "dominant", "Q2": ["dominant", "privileged"], "Q3": "Yes", "Q4": "minor-error", "Q5": "Yes", "Q6": "Yes" }, "Q7": "No, 0" }`

func TestReadFeedback(t *testing.T) {
	yes, no := true, false
	paper := &answer.Feedback{Errors: []answer.ErrorFeedback{
		{Location: "old revolutionary district", Phrases: []answer.Phrase{{Incorrect: "old revolutionary district", Correct: "new revolutionary base area"}}, Aligned: &yes, Weight: analysis.Major, Typed: true, Located: true},
		{Location: "dominant", Phrases: []answer.Phrase{{Incorrect: "dominant", Correct: "privileged"}}, Aligned: &yes, Weight: analysis.Minor, Typed: true, Located: true},
	}}
	one := func(q2, q3, q4, q5 string) string {
		return `{"Err1": {"Q1": ["a"], "Q2": ` + q2 + `, "Q3": ` + q3 + `, "Q4": "` + q4 + `", "Q5": ` + q5 + `, "Q6": "Yes, it does."}, "Q7": "No"}`
	}
	for _, test := range []struct {
		name, text string
		n          int
		want       *answer.Feedback
		err        string
	}{
		{name: "the paper's", text: paperFeedback, n: 2, want: paper},
		{name: "in a fence, with talk", text: "Here it is:\n```json\n" + paperFeedback + "\n```\nI hope this helps.", n: 2, want: paper},
		{name: "two phrases, no error", text: one(`[["a", "b"], ["c", null]]`, `"None"`, "no-error", `false`), n: 1, want: &answer.Feedback{Errors: []answer.ErrorFeedback{
			{Location: "a", Phrases: []answer.Phrase{{"a", "b"}, {"c", ""}}, NoError: true, Located: true},
		}}},
		{name: "not aligned", text: one(`[null, "b"]`, `"No"`, "minor-error", `"Yes"`), n: 1, want: &answer.Feedback{Errors: []answer.ErrorFeedback{
			{Location: "a", Phrases: []answer.Phrase{{"", "b"}}, Aligned: &no, Weight: analysis.Minor, Typed: true, Located: true},
		}}},
		{name: "no phrases", text: one(`["None", "None"]`, `null`, "major-error", `"Yes"`), n: 1, want: &answer.Feedback{Errors: []answer.ErrorFeedback{
			{Location: "a", Weight: analysis.Major, Typed: true, Located: true},
		}}},
		{name: "too few", text: paperFeedback, n: 3, err: "Err3: there is no answer about it"},
		{name: "too many", text: paperFeedback, n: 1, err: "there are more than 1 errors"},
		{name: "Q4", text: one(`[]`, `"None"`, "minor-error or major-error", `"Yes"`), n: 1, err: "Err1: the answer to Q4 is neither no-error, minor-error nor major-error"},
		{name: "Q5", text: one(`[]`, `"None"`, "minor-error", `"Perhaps"`), n: 1, err: "Err1: the answer to Q5 is neither Yes nor No"},
		{name: "prose", text: "All is well.", n: 1, err: "the answer has no JSON"},
		{name: "another document", text: `{"errors": {}}`, n: 1, err: `the answer has no "Err1"`},
	} {
		got, err := answer.ReadFeedback(test.text, test.n)
		if test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: %v, %v", test.name, got, err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", test.name, err, diff)
		}
	}
	for text, want := range map[string]int{`"Yes, 2"`: 2, `["Yes", 3]`: 3, `"Yes"`: 1, `"No, 0"`: 0, `"no repetitions: 4"`: 0} {
		got, err := answer.ReadFeedback(paperFeedback[:len(paperFeedback)-len(`"No, 0" }`)]+text+"}", 2)
		if err != nil || got.Repeated != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	yesAnswer, noAnswer, none := [2]bool{true, true}, [2]bool{false, true}, [2]bool{}
	for text, want := range map[string][2]bool{
		"No": noAnswer, " **Yes**, it does": yesAnswer, "'Yes'": yesAnswer, "1. no.": noAnswer, "- YES": yesAnswer, "No-error": noAnswer, "“No”": noAnswer,
		"<think>No?</think>\nYes": yesAnswer, "Yes, or nearly so": yesAnswer, "No or little": noAnswer, "Yes/": yesAnswer,
		"Not at all": none, "": none, "Yesterday": none, "Yes/No": none, "Yes or No": none, "yes and no": none, "No | Yes": none, "<think>Yes": none, "The answer is yes": none, "Нет": none,
	} {
		if yes, answered := answer.YesOrNo(text); [2]bool{yes, answered} != want {
			t.Errorf("%q: %v %v", text, yes, answered)
		}
	}
}

func FuzzReadFeedback(f *testing.F) {
	f.Add(paperFeedback, 2)
	f.Add(`{"Err1": {"Q1": [[]], "Q2": [[["a"]]], "Q3": null, "Q4": "no-error", "Q5": true, "Q6": false}}`, 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 1), 9)
		got, err := answer.ReadFeedback(text, n)
		if (err == nil) != (got != nil) {
			t.Fatalf("%v and %v", got, err)
		}
		if got != nil && (len(got.Errors) != n || got.Repeated < 0) {
			t.Fatalf("%+v of %d errors", got, n)
		}
	})
}

package answer_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// paperFeedback is the answer of table 34.
const paperFeedback = `{ "Err1": { "Q1": "old revolutionary district", "Q2": ["old revolutionary district", "new revolutionary base area"], "Q3": "Yes", "Q4": "major-error", "Q5": "Yes", "Q6": "Yes" }, "Err2": { "Q1": "dominant", "Q2": ["dominant", "privileged"], "Q3": "Yes", "Q4": "minor-error", "Q5": "Yes", "Q6": "Yes" }, "Q7": "No, 0" }`

// standing reports whether a phrase occurs in the output of the tests.
func standing(phrase string) bool {
	return slices.Contains([]string{"committee", "monday, tuesday", "big [sic] dams"}, phrase)
}

// Q2 is parsed from lists and from strings with lists; ambiguous answers are malformed.
func TestReadPhrases(t *testing.T) {
	pair := []answer.Phrase{{Incorrect: "committee", Correct: "group"}}
	const malformed = "Err1: the answer to Q2 is not one that the prompt offers"
	for q2, want := range map[string][]answer.Phrase{
		`["committee", "group"]`: pair, `"[committee, group]"`: pair, `"[\"committee\", \"group\"]"`: pair, `"['committee', 'group']."`: pair,
		`["[committee, group]"]`: pair, `[["committee", "group"]]`: pair, `[committee, group]`: pair, `"[[committee, group]]"`: pair,
		`"[None, None]"`: nil, `"[None]"`: nil, `"None"`: nil, `[]`: nil, `null`: nil, `[null, "None"]`: nil, `"[]"`: nil, `["None"]`: nil,
		`"[committee, None]"`:                             {{Incorrect: "committee"}},
		`"[None, group]"`:                                 {{Correct: "group"}},
		`"[committee, group], [monday, Tuesday]"`:         {pair[0], {Incorrect: "monday", Correct: "Tuesday"}},
		`[["committee", "group"], ["monday", "Tuesday"]]`: {pair[0], {Incorrect: "monday", Correct: "Tuesday"}},
		`"committee"`:                                     {{Incorrect: "committee"}},
		`["committee"]`:                                   {{Incorrect: "committee"}},
		`"\"monday, tuesday\""`:                           {{Incorrect: "monday, tuesday"}},
		`"big [sic] dams"`:                                {{Incorrect: "big [sic] dams"}},
		`["monday, tuesday", "group"]`:                    {{Incorrect: "monday, tuesday", Correct: "group"}},
	} {
		f, err := answer.ReadFeedback(`{"Err1": {"Q1": "[committee]", "Q2": `+q2+`, "Q3": "None", "Q4": "minor-error", "Q5": "Yes", "Q6": "Yes"}}`, 1, standing)
		if err != nil {
			t.Errorf("%s: %v", q2, err)
		} else if diff := cmp.Diff(want, f.Errors[0].Phrases); diff != "" || f.Errors[0].Location != "committee" {
			t.Errorf("%s: %q %s", q2, f.Errors[0].Location, diff)
		}
	}
	for _, q2 := range []string{
		`"committee, group"`, `"committee to group"`, `"[committee to group]"`, `["committee to group"]`, `"[1,000 dams, 2,000 dams]"`, `"[a, b, c, d]"`,
		`["a", "b", "c"]`, `["a", "b", "c", "d"]`, `[["a", "b"], "c"]`, `{"incorrect": "a", "correct": "b"}`, `true`, `"[a, b"`,
	} {
		f, err := answer.ReadFeedback(`{"Err1": {"Q1": "a", "Q2": `+q2+`, "Q3": "None", "Q4": "minor-error", "Q5": "Yes", "Q6": "Yes"}}`, 1, standing)
		assert.EqualError(t, err, malformed, "%s: %+v", q2, f)
	}
	for q4, want := range map[string]string{
		"minor-error": "minor", "Minor": "minor", "**major_error**": "major", "No error": "no", "no-error, as both mean the same": "no",
		"no-error|minor-error": "", "not a major-error": "",
	} {
		f, err := answer.ReadFeedback(`{"Err1": {"Q1": "a", "Q2": [], "Q3": "None", "Q4": "`+q4+`", "Q5": "Yes", "Q6": "Yes"}}`, 1, standing)
		got := ""
		if err == nil {
			if got = string(f.Errors[0].Weight); f.Errors[0].NoError {
				got = "no"
			}
		}
		assert.Equal(t, want, got, "%s: %q, %v, want %q", q4, got, err, want)
	}
}

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
		{name: "too few", text: paperFeedback, n: 3, err: "Err3: no answer to Q1"},
		{name: "too many", text: paperFeedback, n: 1, err: "there are more than 1 errors"},
		{name: "Q4", text: one(`[]`, `"None"`, "minor-error or major-error", `"Yes"`), n: 1, err: "Err1: the answer to Q4 is not one that the prompt offers"},
		{name: "Q5", text: one(`[]`, `"None"`, "minor-error", `"Perhaps"`), n: 1, err: "Err1: the answer to Q5 is not one that the prompt offers"},
		{name: "prose", text: "All is well.", n: 1, err: "the answer has no JSON"},
		{name: "another document", text: `{"errors": {}}`, n: 1, err: `the answer has no "Err1"`},
	} {
		got, err := answer.ReadFeedback(test.text, test.n, standing)
		if test.err != "" {
			assert.EqualError(t, err, test.err, "%s: %v", test.name, got)
			continue
		}
		diff := cmp.Diff(test.want, got)
		assert.True(t, diff == "" && err == nil, "%s: %v %s", test.name, err, diff)
	}
	for text, want := range map[string]int{`"Yes, 2"`: 2, `["Yes", 3]`: 3, `"Yes"`: 1, `"No, 0"`: 0, `"no repetitions: 4"`: 0} {
		got, err := answer.ReadFeedback(paperFeedback[:len(paperFeedback)-len(`"No, 0" }`)]+text+"}", 2, standing)
		assert.True(t, err == nil && got.Repeated == want, "%s: %v, %v", text, got, err)
	}
	yesAnswer, noAnswer, none := [2]bool{true, true}, [2]bool{false, true}, [2]bool{}
	for text, want := range map[string][2]bool{
		"No": noAnswer, " **Yes**, it does": yesAnswer, "'Yes'": yesAnswer, "1. no.": noAnswer, "- YES": yesAnswer, "No-error": noAnswer, "“No”": noAnswer,
		"<think>No?</think>\nYes": yesAnswer, "Yes, or nearly so": yesAnswer, "No or little": noAnswer, "Yes/": yesAnswer,
		"No. The text is fine. No, really.": noAnswer, "Yes. No word is right.": yesAnswer, "Yes, it asks \"where?\" in place of it.": yesAnswer,
		"No errors? Yes, it contains an error.": none, "No errors? It has two.": none, "No, none. Yes, there is one.": none, "Yes.\nNo": none,
		"Not at all": none, "": none, "Yesterday": none, "Yes/No": none, "Yes or No": none, "yes and no": none, "No | Yes": none, "<think>Yes": none, "The answer is yes": none, "Нет": none,
	} {
		yes, answered := answer.YesOrNo(text)
		assert.Equal(t, want, [2]bool{yes, answered}, "%q", text)
	}
}

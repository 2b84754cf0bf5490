package build

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/metrics/analysis"
)

const designedAnswer = `Paraphrase correct translation: The train came late.
Incorrect Translation: The trains came lately.
Error type 1: Spelling
Major/minor: Minor
Error location 1: "lately"
Explanation for error 1: The word means something else.
Error type 2: Grammar
Major/minor: Major
Error location 2: "trains"
Explanation for error 2: There was one.`

// judged is what becomes of an answer about two errors, under the rules of the recipe.
func judged(t *testing.T, text string) *Item {
	t.Helper()
	it := &Item{Asked: []analysis.Error{{Aspect: "Grammar", Severity: analysis.Major}, {Aspect: "Spelling", Severity: analysis.Minor}}}
	designatedItem(t, it, "The train was late.", text)
	return it
}

// designatedItem reads an answer and applies the rules. It returns how many errors
// could not be made.
func designatedItem(t *testing.T, it *Item, original, text string) (notMade int) {
	t.Helper()
	parser, err := answer.New(answer.Spec{Kind: answer.InstructScore})
	if err != nil {
		t.Fatal(err)
	}
	it.readDesignated(parser, original, text, &notMade)
	if err := (&Set{Recipe: loaded(t, InstructScore)}).filter(it, original); err != nil {
		t.Fatal(err)
	}
	return notMade
}

// An answer in Markdown is read as the same one without the marks.
func TestBoldLabels(t *testing.T) {
	want := judged(t, designedAnswer)
	if want.Rule != "" || len(want.Errors) != 2 {
		t.Fatalf("%+v", want)
	}
	lines := func(change func(label, value string) string) string {
		var b strings.Builder
		for line := range strings.Lines(designedAnswer) {
			label, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			b.WriteString(change(label, value) + "\n")
		}
		return b.String()
	}
	for _, text := range []string{
		lines(func(label, value string) string { return "**" + label + ":** " + value }),
		lines(func(label, value string) string { return "**" + label + "**: " + value }),
		lines(func(label, value string) string { return "- **" + label + ":** **" + value + "**\n" }),
		lines(func(label, value string) string { return "**" + label + ": " + value + "**" }),
		lines(func(label, value string) string { return "### " + label + ": " + value }),
		strings.ReplaceAll(lines(func(label, value string) string { return "**" + label + ":** " + value }), "\n", " "),
	} {
		got := judged(t, text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// An error without an explanation makes no example that says N/A.
func TestEmptyExplanation(t *testing.T) {
	for _, by := range []string{"", "N/A"} {
		it := judged(t, strings.Replace(designedAnswer, "The word means something else.", by, 1))
		if it.Rule != RuleMalformed || !strings.Contains(it.Detail, `"lately" lacks an explanation`) {
			t.Errorf("%q: %q %s", by, it.Rule, it.Detail)
		}
	}
	it := judged(t, strings.NewReplacer("The word means something else.", "N/A", `"lately"`, "N/A").Replace(designedAnswer))
	if it.Rule != "" || len(it.Errors) != 1 {
		t.Errorf("an error that could not be made: %q %s", it.Rule, it.Detail)
	}
}

// Closing words to the one who asks make no part of an example.
func TestTalk(t *testing.T) {
	for end, rule := range map[string]string{
		"": "", "\n\nI hope this helps! Let me know if you need more.": RuleTalk, " Let me know if you need anything else!": RuleTalk,
		"\n---\n*If you'd like more examples, just ask.*": RuleTalk, " Please feel free to ask.": RuleTalk, "\nWould you like me to make another one?": RuleTalk,
		` The output says "let me know if you need more."`: "", " The reader asks if you need a ticket.": "", " It is not clear. I see no other.": "",
	} {
		if it := judged(t, designedAnswer+end); it.Rule != rule || (it.Detail != "") != (rule != "") {
			t.Errorf("%q: %q %s, want %q", end, it.Rule, it.Detail, rule)
		}
	}
	for reference, rule := range map[string]string{"It is late.": RuleTalk, "It is late. Let me know if you come.": ""} {
		it := &Item{Channel: ChannelSynthetic, Reference: reference, Hypothesis: "It is early. Let me know if you come."}
		if got := it.talk(); (got != "") != (rule != "") {
			t.Errorf("%s: %s", reference, got)
		}
	}
}

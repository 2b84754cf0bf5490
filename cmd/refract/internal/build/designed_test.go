package build

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
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

// judged returns the item for an answer about two errors, after the rules of the recipe.
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
	require.NoError(t, err)
	it.readDesignated(parser, original, text, &notMade)
	(&Set{Recipe: loaded(t, InstructScore)}).filter(it, original)
	return notMade
}

// An answer in Markdown reads the same as one without the marks.
func TestBoldLabels(t *testing.T) {
	want := judged(t, designedAnswer)
	require.True(t, want.Rule == "" && len(want.Errors) == 2, "%+v", want)
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
		assert.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreUnexported(Item{})), text)
	}
}

// An error without an explanation does not become an example with the explanation N/A.
func TestEmptyExplanation(t *testing.T) {
	for _, by := range []string{"", "N/A"} {
		it := judged(t, strings.Replace(designedAnswer, "The word means something else.", by, 1))
		if it.Rule != RuleMalformed || !strings.Contains(it.Detail, `"lately" lacks an explanation`) {
			t.Errorf("%q: %q %s", by, it.Rule, it.Detail)
		}
	}
	it := judged(t, strings.NewReplacer("The word means something else.", "N/A", `"lately"`, "N/A").Replace(designedAnswer))
	assert.True(t, it.Rule == "" && len(it.Errors) == 1, "an error that could not be made: %q %s", it.Rule, it.Detail)
}

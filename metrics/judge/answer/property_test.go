package answer_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// drawErrors draws errors that the itemized formats can express: values of several lines,
// without surrounding quotes, that do not look like a label, "N/A" or "none".
func drawErrors(t *rapid.T, severities ...analysis.Severity) []analysis.Error {
	text := rapid.StringMatching(`[a-mo-zäß] ?[a-z"':., 0-9]{0,20}[a-zж漢](\n\n?- [a-z]{3,9}: [a-z]{4,9}y)?`)
	n := rapid.IntRange(1, 12).Draw(t, "errors")
	all := make([]analysis.Error, n)
	for i := range all {
		all[i] = analysis.Error{
			Location:    text.Draw(t, "location"),
			Aspect:      text.Draw(t, "aspect"),
			Explanation: text.Draw(t, "explanation"),
			Severity:    rapid.SampledFrom(severities).Draw(t, "severity"),
			Penalty:     new(float64(rapid.IntRange(1, 10).Draw(t, "half points")) / 2),
		}
	}
	return all
}

func total(errors []analysis.Error) float64 {
	sum := 0.0
	for _, e := range errors {
		sum += *e.Penalty
	}
	return sum
}

func title(s analysis.Severity) string { return strings.ToUpper(string(s[:1])) + string(s[1:]) }

// same compares parsed errors to the rendered ones.
func same(t *rapid.T, s answer.Spec, text string, errors []analysis.Error) {
	p, err := answer.New(s)
	require.NoError(t, err)
	r := p.Parse(text)
	if r.Outcome != analysis.Scored || *r.Score != -total(errors) {
		t.Fatalf("got %s %v (%s), want %v\n%s", r.Outcome, show(r.Score), r.Detail, -total(errors), text)
	}
	require.Empty(t, cmp.Diff(errors, r.Errors), "%s", text)
}

func TestRenderedTIGERScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		errors := drawErrors(t, analysis.Major, analysis.Minor)
		newline := rapid.SampledFrom([]string{"\n", "\r\n", " \n", "\n\n"}).Draw(t, "newline")
		space := rapid.SampledFrom([]string{" ", "  ", ""}).Draw(t, "space")
		quote := rapid.SampledFrom([]string{"", `“%s”`}).Draw(t, "quote")
		var b strings.Builder
		fmt.Fprintf(&b, "The model-generated output contains %d errors, with a total score reduction of %v.", len(errors), total(errors))
		for i, e := range errors {
			location := e.Location
			if quote != "" {
				location = fmt.Sprintf(quote, location)
			}
			for _, f := range [][2]string{{"Error location", location}, {"Error aspect", e.Aspect}, {"Explanation", e.Explanation},
				{"Severity", title(e.Severity)}, {"Score reduction", fmt.Sprint(*e.Penalty)}} {
				fmt.Fprintf(&b, "%s%s %d:%s%s", newline, f[0], i+1, space, f[1])
			}
		}
		same(t, answer.Spec{Kind: answer.TIGERScore}, b.String(), errors)
	})
}

func TestRenderedInstructScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		errors := drawErrors(t, analysis.Major, analysis.Minor)
		dimensions := rapid.Bool().Draw(t, "dimensions")
		explanation := rapid.SampledFrom([]string{"Explanation for error %d", "Error explanation %d"}).Draw(t, "label")
		var b strings.Builder
		fmt.Fprintf(&b, "Your generation contains %d errors:", len(errors))
		for i := range errors {
			e := &errors[i]
			e.Penalty = new(map[analysis.Severity]float64{analysis.Major: 5, analysis.Minor: 1}[e.Severity])
			if dimensions {
				e.Dimension = "Fluency"
				fmt.Fprintf(&b, "\nError dimension %d: %s", i+1, e.Dimension)
			}
			fmt.Fprintf(&b, "\nError type %d: %s\nMajor/minor:  %s\nError location %d: %s\n"+explanation+": %s",
				i+1, e.Aspect, title(e.Severity), i+1, e.Location, i+1, e.Explanation)
		}
		same(t, answer.Spec{Kind: answer.InstructScore}, b.String(), errors)
	})
}

// specs returns a spec of each kind.
func specs() map[string]answer.Spec {
	return map[string]answer.Spec{
		answer.Number:        {Kind: answer.Number},
		answer.Stars:         {Kind: answer.Stars},
		answer.Classes:       {Kind: answer.Classes, Classes: gemba},
		answer.JSON:          {Kind: answer.JSON, Path: "score"},
		answer.Errors:        {Kind: answer.Errors, Form: answer.XGPTScore},
		answer.TIGERScore:    {Kind: answer.TIGERScore},
		answer.InstructScore: {Kind: answer.InstructScore},
		answer.MQM:           {Kind: answer.Errors, Form: answer.MQM},
		answer.GEMBA:         {Kind: answer.GEMBA},
		"after":              {Kind: answer.Number, After: "[RESULT]", Lower: at(1), Upper: at(5), Integer: true},
	}
}

// repeated lists texts that tempt a parser to scan everything again and again: a beginning, and
// a part to repeat.
var repeated = [][2]string{
	{"", "x"}, {"", " "}, {"", "\n"}, {"", "1"}, {"", "1 "}, {"85\n", "85\n"}, {"", "*"}, {"", "* "}, {"", "★"}, {"", "score "}, {"Score: 8 ", "("},
	{"4 ", "four-"}, {"", "Perfect translation "}, {"Perfect translation. ", "No meaning "}, {"", "\""}, {"", "“"}, {"", "Class: "},
	{"", "{"}, {"", "["}, {"", "[a]"}, {"", "{}"}, {"", "```"}, {"", "{'a': '"}, {`{"a": "`, `x" `}, {`{"a": [`, `1 `}, {`{"a": `, "/*"}, {`{"a": "`, `\`}, {"", "[a{]"},
	{`{"errors": [`, `{"score_reduction": 1},`}, {`{'errors': [`, `{'score_reduction': 1},`}, {`{"score": `, `"score": `}, {"", "<think>"}, {"<think>", "</think>"},
	{"The output contains 2 errors.", "\nError location 1: x"}, {"The output contains 2 errors.", "\nError location 2: x\nScore reduction 1: 1"},
	{"The output contains 2 errors.", "\nError location 1: x\nError aspect 1: x\nExplanation 1: x\nSeverity 1: x\nScore reduction 1: 1"},
	{"Your text contains 2 errors.", "\nError type 1: x\nMajor/minor: Major\nError location 1: y\nExplanation for error 1: z"},
	{"Your text contains 2 errors.", "\nMajor/minor:"}, {"Your text contains 2 errors.", "\nError type 9: x"}, {"", "Your "}, {"", "You are evaluating "},
}

// TestLongAnswers gives every parser long texts. A parser that scans its text again for each
// part would time out. Allocations are compared for one length and its double.
func TestLongAnswers(t *testing.T) {
	for kind, spec := range specs() {
		p := parser(t, spec)
		for _, r := range repeated {
			cost := func(bytes int) uint64 {
				text := r[0] + strings.Repeat(r[1], bytes/len(r[1]))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				p.Parse(text)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			const size = 1 << 12
			once, twice := cost(size), cost(2*size)
			if twice > 3*once+1<<22 {
				t.Errorf("%s, %q and many %q: %d bytes are allocated for %d, %d for %d", kind, r[0], r[1], once, size, twice, 2*size)
			}
		}
	}
}

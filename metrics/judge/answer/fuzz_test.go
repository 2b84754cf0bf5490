package answer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// For any answer, each parser is deterministic, keeps scores within bounds, and reports errors
// only with words of the answer.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{
		"", "\x00\xff", "85", "no error", "{}", "<think>", "N/A", "Score: 8.5/10", "8 out of 10", "7-8", "1. a\n2. b", "8%", "★★★★☆", "four and a half stars", "****", "4½",
		"Class: Perfect translation", "4. Perfect translation.", `{"score": 8}`, "```json\n{'score': 8,}\n```", `[0-10] {"a": [1, {"score": 2}]}`,
		`{'errors': [{'error_location': "it's", 'score_reduction': 1,}]}`, `{"errors": {}}`, `{"errors": [{"span": "a", "category": "b", "severity": "minor", "explanation": "c"}]}`,
		"The output contains 1 error, with a total score reduction of 4.5.\nError location 1: \"a\"\nError aspect 1: b\nExplanation 1: c\n- d\nSeverity 1: Major\nScore reduction 1: 4.5",
		"Your Translation contains 2 errors:\nError type 1: a\nMajor/minor: Major\nError location 1: \"b\"\nExplanation for error 1: c\nError type 2: d\nMajor/minor:  Minor\nError location 2: N/A",
		"Critical:\nno-error\nMajor:\naccuracy/mistranslation - \"a\"\nMinor:\n- style (awkward): b", "Good. [RESULT] 4", "[RESULT] 3\n[RESULT] 4",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, spec := range specs() {
			check(t, spec, text)
		}
	})
}

func check(t *testing.T, spec answer.Spec, text string) {
	p := parser(t, spec)
	lower, upper := spec.Bounds()
	r := p.Parse(text)
	require.Equal(t, text, *r.Raw, "the raw text is not the answer")
	require.Empty(t, cmp.Diff(r, p.Parse(text)), "two readings differ")
	require.LessOrEqual(t, len(r.Detail), 2000+len(text), "the detail")
	for _, e := range r.Errors {
		require.True(t, e.Place == analysis.Unlocated && e.Span == (analysis.Span{}), "a parser has located an error")
		if e.Penalty != nil && (!(*e.Penalty >= 0) || math.IsInf(*e.Penalty, 0)) {
			t.Fatalf("a penalty of %v", *e.Penalty)
		}
		for _, field := range []string{e.Location, e.Aspect, e.Dimension, e.Explanation} {
			if spec.Kind != answer.Errors && !strings.Contains(text, field) {
				t.Fatalf("%q is not in the answer", field)
			}
		}
	}
	switch r.Outcome {
	case analysis.Unparseable:
		if r.Score != nil || r.Detail == "" {
			t.Fatalf("an unparseable answer with the score %v and the detail %q", show(r.Score), r.Detail)
		}
		return
	case analysis.NoError:
		if *r.Score != 0 || math.Signbit(*r.Score) || len(r.Errors) != 0 {
			t.Fatalf("no error, but %v with %d errors", *r.Score, len(r.Errors))
		}
	case analysis.Scored:
		sum, any := 0.0, false
		errors := r.Errors
		if spec.Kind == answer.GEMBA {
			errors = errors[:min(5, len(errors))]
		}
		for _, e := range errors {
			if e.Penalty != nil {
				sum, any = sum+*e.Penalty, true
			}
		}
		if upper == 0 && (!any || *r.Score != 0-sum) {
			t.Fatalf("%v is not the sum of the penalties, %v", *r.Score, sum)
		}
	default:
		t.Fatalf("the outcome is %q", r.Outcome)
	}
	if !(*r.Score >= lower && *r.Score <= upper) || math.IsInf(*r.Score, 0) {
		t.Fatalf("%v is out of bounds", *r.Score)
	}
}

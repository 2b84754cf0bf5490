package answer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/metrics/analysis"
)

// fuzz runs one parser. states reports whether a text can state the outcome
// that was read in it: it is a necessary condition, written without the
// parser's code.
func fuzz(f *testing.F, spec answer.Spec, states func(text string, r *analysis.Report) bool, seeds ...string) {
	p := parser(f, spec)
	lower, upper := spec.Bounds()
	for _, s := range append(seeds, "", "\x00\xff", "85", "no error", "{}", "<think>", "N/A") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := p.Parse(text)
		if *r.Raw != text {
			t.Fatal("the raw text is not the answer")
		}
		if diff := cmp.Diff(r, p.Parse(text)); diff != "" {
			t.Fatalf("two readings differ: %s", diff)
		}
		if len(r.Detail) > 2000+len(text) {
			t.Fatalf("the detail has %d bytes", len(r.Detail))
		}
		for _, e := range r.Errors {
			if e.Place != analysis.Unlocated || e.Span != (analysis.Span{}) {
				t.Fatal("a parser has located an error")
			}
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
		if !states(text, r) {
			t.Fatalf("%s %v from a text that does not state it", r.Outcome, *r.Score)
		}
	})
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func hasAny(s string, words ...string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func FuzzNumber(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.Number, Lower: at(0), Upper: at(10)}, func(text string, r *analysis.Report) bool {
		return hasDigit(text)
	}, "Score: 8.5/10", "8 out of 10", "I rate it a 7.", "**8**", "7-8", "1. a\n2. b", "8%")
}

func FuzzStars(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.Stars}, func(text string, r *analysis.Report) bool {
		return hasDigit(text) || hasAny(text, "*", "★", "⭐", "🌟", "one", "two", "three", "four", "five")
	}, "★★★★☆", "four and a half stars", "****", "4½", "**4**", "Stars: 3/5")
}

func FuzzClasses(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.Classes, Classes: gemba}, func(text string, r *analysis.Report) bool {
		for _, w := range strings.Fields(strings.NewReplacer(",", "").Replace(strings.ToLower(gemba[int(*r.Score)].Name))) {
			if !hasAny(text, w) {
				return false
			}
		}
		return true
	}, "Perfect translation.", "Class: No meaning preserved", "2: Some meaning preserved and understandable")
}

func FuzzJSON(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.JSON, Path: "score"}, func(text string, r *analysis.Report) bool {
		return hasDigit(text) && hasAny(text, "score", `\u00`) && strings.Contains(text, "{")
	}, `{"score": 8}`, "```json\n{'score': 8,}\n```", `{"score": "8"}`, `{"score": -}`, `{score: 1e}`, `[0-10] {"a": [1, {"score": 2}]}`)
}

func FuzzErrors(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.Errors, Form: answer.XGPTScore}, func(text string, r *analysis.Report) bool {
		return strings.ContainsAny(text, "[{") && (r.Outcome == analysis.NoError || hasDigit(text))
	}, `{"errors": {"error_1": {"error_location": "a", "severity": "Major", "score_reduction": 4.0}}}`,
		`{'errors': [{'error_location': "it's", 'score_reduction': 1,}]}`, `{"errors": {}}`, `{"errors": [{"score_reduction": -}]}`)
}

func FuzzMQM(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.Errors, Form: answer.MQM}, func(text string, r *analysis.Report) bool {
		return strings.ContainsAny(text, "[{") && (r.Outcome == analysis.NoError || hasAny(text, "critical", "major", "minor", "neutral", `\u00`))
	}, `{"errors": [{"span": "a", "category": "b", "severity": "minor", "explanation": "c"}]}`, `{"errors": []}`)
}

func FuzzTIGERScore(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.TIGERScore}, func(text string, r *analysis.Report) bool {
		if r.Outcome == analysis.NoError {
			return hasAny(text, "error", "location", "aspect", "explanation", "severity", "reduction")
		}
		return hasDigit(text) && hasAny(text, "reduction")
	}, "The model-generated output contains 1 errors, with a total score reduction of 4.5.\nError location 1: \"a\"\nError aspect 1: b\nExplanation 1: c\n- d\nSeverity 1: Major\nScore reduction 1: 4.5",
		"The output contains no errors.", "The output contains 1 error.\nError location: a\nScore reduction: 1")
}

func FuzzInstructScore(f *testing.F) {
	fuzz(f, answer.Spec{Kind: answer.InstructScore}, func(text string, r *analysis.Report) bool {
		if r.Outcome == analysis.NoError {
			return hasAny(text, "error", "major/minor", "minor/major", "severity", "explanation")
		}
		return hasAny(text, "major", "minor", "critical")
	}, "Your Translation contains 2 errors:\nError type 1: a\nMajor/minor: Major\nError location 1: \"b\"\nExplanation for error 1: c\nError type 2: d\nMajor/minor:  Minor\nError location 2: N/A\nError explanation 2: e",
		"Your generation contains no error.Error", "Your generation contains 1 errors:\nError dimension 1: N/A\nError type 1: N/A\nMajor/minor:  N/A\nError location 1: N/A\nExplanation for error 1: N/A")
}

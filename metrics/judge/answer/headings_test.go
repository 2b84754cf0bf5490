package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

func TestHeadings(t *testing.T) {
	mqm := parser(t, answer.Spec{Kind: answer.GEMBA, Lower: at(-25)})
	for _, test := range []struct {
		text   string
		score  float64
		errors string // severity, aspect, location and explanation of each
		detail string
	}{
		{"Critical:\nno-error\nMajor:\naccuracy/mistranslation - \"involvement\"\naccuracy/omission - \"the account holder\"\nMinor:\nfluency/grammar - \"wäre\"\nfluency/register - \"dir\"\n",
			-12, "major|accuracy/mistranslation|involvement|;major|accuracy/omission|the account holder|;minor|fluency/grammar|wäre|;minor|fluency/register|dir|", ""},
		{"Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error", 0, "", ""},
		{"no-error", 0, "", ""},
		{"**Critical:** no-error\n**Major:** no-error\n**Minor:**\n- style/awkward – “etc.,”", -1, "minor|style/awkward|etc.,|", ""},
		{"Critical errors:\nno-error\nMajor errors:\n1. accuracy (omission): the account holder\nMinor errors:\nno-error", -5, "major|accuracy (omission)|the account holder|", ""},
		{"### Critical\nno-error\n### Major\naccuracy/mistranslation - \"sold\"\n**Minor errors**\nno-error", -5, "major|accuracy/mistranslation|sold|", ""},
		{"### Minor\nno-error\n### Neutral\nstyle/awkward - \"a\"", none, "", "an error comes before the first heading, so its severity is unknown"},
		{"<think>Major: accuracy - \"x\"</think>\nMajor:\nno-error", 0, "", "the reasoning before the answer was skipped"},
		{"Here is what I found:\n\nMajor:\nterminology/inappropriate for context - \"it's \"b\" c\" - too coarse", -5,
			"major|terminology/inappropriate for context|it's \"b|c\" - too coarse", "text that is not an error of a category was skipped"},
		{"Minor:\nnon-translation", -25, "critical|non-translation||", ""},
		{"Critical:\naccuracy/addition - \"a\"\nMinor:\nother - \"b\"", -25, "critical|accuracy/addition|a|;minor|other|b|", "the sum, -26, stops at -25"},
		{"Major:\n" + strings.Repeat("other - \"a\"\n", 4) + "Minor:\n" + strings.Repeat("other - \"b\"\n", 3), -21,
			strings.TrimSuffix(strings.Repeat("major|other|a|;", 4)+strings.Repeat("minor|other|b|;", 3), ";"), "7 errors; the worst 5 count"},
		{"Minor:\nstyle/awkward - \"a\"\nOther than that, it reads well.", -1, "minor|style/awkward|a|", "text that is not an error of a category was skipped"},
		{"Critical:\nhallucination - \"cat\"\nMajor:\nno-error\nMinor:\nmeaning/shift: “sat”", -25, "critical|hallucination|cat|;minor|meaning/shift|sat|", "the sum, -26, stops at -25"},
		{"Critical:\nThe translation is completely wrong.\nMajor:\nno-error", none, "", "the text under a heading is neither an error nor a statement that there is none"},
		{"Major:\nno-error\nMinor:\nno-error\nIt reads well.", 0, "", "text that is not an error of a category was skipped"},
		{"I looked - \"closely\".\nMajor:\nno-error", 0, "", "text that is not an error of a category was skipped"},
		// Answers that the published code counts as perfect:
		{"Severe:\naccuracy/omission - \"a\"", none, "", "an error comes before the first heading, so its severity is unknown"},
		{"Minor:\nno-error\nNeutral:\nstyle/awkward - \"a\"", none, "", "\"Neutral:\" is not a heading of this prompt"},
		{"The translation is fine.", none, "", "the answer names no error, and does not state that there is none"},
		{"Critical:\nMajor:\nMinor:", none, "", "the answer names no error, and does not state that there is none"},
		{"", none, "", "the answer is empty"},
	} {
		r := mqm.Parse(test.text)
		var errors []string
		for _, e := range r.Errors {
			errors = append(errors, fmt.Sprintf("%s|%s|%s|%s", e.Severity, e.Aspect, e.Location, e.Explanation))
		}
		got := strings.Join(errors, ";")
		assert.False(t, got != test.errors && r.Outcome.HasScore(), "%q\n got %s\nwant %s", test.text, got, test.errors)
		if has := r.Outcome.HasScore(); has != (test.score == test.score) || has && *r.Score != test.score {
			t.Errorf("%q: %s %v, want %v", test.text, r.Outcome, show(r.Score), test.score)
		}
		if !strings.Contains(r.Detail, test.detail) || test.detail == "" && r.Detail != "" {
			t.Errorf("%q: detail %q, want %q", test.text, r.Detail, test.detail)
		}
	}
	esa := parser(t, answer.Spec{Kind: answer.GEMBA, Weights: map[analysis.Severity]float64{analysis.Major: 5, analysis.Minor: 1}})
	assert.Equal(t, analysis.Unparseable, esa.Parse("Critical:\nno-error").Outcome, "a severity without a weight is read as")
	if r := esa.Parse("Major:\nnon-translation"); *r.Score != -5 {
		t.Errorf("non-translation costs %v", *r.Score)
	}
}

// Minor punctuation errors have a lower penalty in GEMBA-MQM V2.
func TestWeightExceptions(t *testing.T) {
	spec := answer.Spec{Kind: answer.Errors, Form: answer.MQM, Except: []analysis.Exception{{Severity: analysis.Minor, Aspect: "punctuation", Weight: 0.1}}}
	r := parser(t, spec).Parse(`{"errors": [{"span": ",", "category": "Fluency/Punctuation", "severity": "minor", "explanation": ""},
		{"span": ".", "category": "fluency/punctuation", "severity": "major", "explanation": ""}, {"span": "a", "category": "other", "severity": "minor", "explanation": ""}]}`)
	assert.Equal(t, -6.1, *r.Score)
	if r.Check(analysis.Texts{}, spec.Rules()); len(r.Problems) > 0 {
		t.Errorf("%+v", r.Problems)
	}
	spec.Except[0].Severity = "neutral"
	_, err := answer.New(spec)
	assert.ErrorContains(t, err, "except of kind errors")
}

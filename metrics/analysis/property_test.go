package analysis_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/analysis"
)

// anyText draws texts in which the syntax of locations is likely.
func anyText() *rapid.Generator[string] {
	part := rapid.OneOf(rapid.SampledFrom([]string{
		`"`, "“", "”", "'", "’", "«", "»", "「", "」", "...", "…", " ", "  ", "\u00a0", "-", "–", "\u200b", ",", ".",
		"the", "The", "rose", "roses", "instead of", "missing", "should be", "is missing before", "The phrase", "is odd",
		"三本", "e\u0301", "é", "ﬁ", "ＡＢ", "İ", "ß", "\xff", "\xe4\xb8", "각", "각", "\u0301\u0301",
	}), rapid.StringN(0, 4, -1))
	return rapid.Map(rapid.SliceOfN(part, 0, 10), func(p []string) string { return strings.Join(p, "") })
}

func anyReport() *rapid.Generator[*analysis.Report] {
	return rapid.Custom(func(t *rapid.T) *analysis.Report {
		r := &analysis.Report{
			Outcome: rapid.SampledFrom([]analysis.Outcome{analysis.Scored, analysis.NoError, analysis.Unparseable, analysis.Blocked, analysis.Cut, analysis.Missing}).Draw(t, "outcome"),
			Detail:  anyText().Draw(t, "detail"),
			Flags:   rapid.SliceOfN(anyText(), 0, 2).Draw(t, "flags"),
		}
		if rapid.Bool().Draw(t, "has raw") {
			r.Raw = new(anyText().Draw(t, "raw"))
		}
		if r.Outcome.HasScore() {
			r.SetScore(r.Outcome, rapid.Float64Range(-100, 0).Draw(t, "score"))
		}
		if rapid.Bool().Draw(t, "states") {
			r.StatedErrors, r.StatedTotal = ptr(rapid.IntRange(0, 5).Draw(t, "stated")), ptr(rapid.Float64Range(0, 20).Draw(t, "total"))
		}
		for range rapid.IntRange(0, 4).Draw(t, "errors") {
			e := analysis.Error{
				Location: anyText().Draw(t, "location"), Aspect: anyText().Draw(t, "aspect"), Dimension: anyText().Draw(t, "dimension"),
				Severity:    rapid.SampledFrom([]analysis.Severity{"", analysis.Critical, analysis.Major, analysis.Minor}).Draw(t, "severity"),
				Explanation: anyText().Draw(t, "explanation"),
			}
			if rapid.Bool().Draw(t, "has penalty") {
				e.Penalty = new(rapid.Float64Range(0, 10).Draw(t, "penalty"))
			}
			r.Errors = append(r.Errors, e)
		}
		return r
	})
}

func anyTexts(t *rapid.T, r *analysis.Report) analysis.Texts {
	hypothesis := anyText().Draw(t, "hypothesis")
	for _, e := range r.Errors { // make locations in the hypothesis likely
		if rapid.Bool().Draw(t, "stands") {
			hypothesis += " " + e.Location
		}
	}
	return analysis.Texts{
		Hypothesis: hypothesis, Source: anyText().Draw(t, "source"), Reference: anyText().Draw(t, "reference"),
	}
}

// checkLocated fails if a located report breaks a promise of Locate.
func checkLocated(t rapid.TB, r *analysis.Report, texts analysis.Texts) {
	runes := []rune(texts.Hypothesis)
	for _, e := range r.Errors {
		span := e.Span
		switch e.Place {
		case analysis.InHypothesis, analysis.Approximate:
			if span.Start < 0 || span.End <= span.Start || span.End > len(runes) {
				t.Fatalf("%q: %v is no span of %d runes", e.Location, span, len(runes))
			}
			at := string(runes[span.Start:span.End])
			if e.Place == analysis.InHypothesis && utf8.ValidString(e.Location) && !strings.Contains(e.Location, at) {
				t.Fatalf("%q: %q is not quoted", e.Location, at)
			}
		case analysis.InSource, analysis.Absent, analysis.NotStated:
			require.Equal(t, analysis.Span{}, span, "%q: %s with the span %v", e.Location, e.Place, span)
			if e.Place == analysis.InSource && texts.Source == "" {
				t.Fatalf("%q in a source that is not there", e.Location)
			}
			if loc := strings.TrimSpace(e.Location); e.Place == analysis.Absent && strings.Contains(texts.Hypothesis, loc) && utf8.ValidString(loc) {
				t.Fatalf("%q is called absent from %q", e.Location, texts.Hypothesis)
			}
		default:
			t.Fatalf("%q: place %q", e.Location, e.Place)
		}
	}
}

func TestLocateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyReport().Draw(t, "report")
		texts := anyTexts(t, r)
		r.Locate(texts)
		checkLocated(t, r, texts)
		again := *r
		again.Errors = slices.Clone(r.Errors)
		again.Locate(texts)
		require.Empty(t, cmp.Diff(r, &again), "Locate is not idempotent")
	})
}

func TestCheckProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyReport().Draw(t, "report")
		texts := anyTexts(t, r)
		r.Locate(texts)
		rules := analysis.Rules{LowestPenalty: 0.5, HighestPenalty: 5}
		r.Check(texts, rules)
		once := slices.Clone(r.Problems)
		r.Check(texts, rules)
		require.Empty(t, cmp.Diff(once, r.Problems), "Check is not idempotent")
		at := func(p analysis.Problem) int {
			if p.Error == nil {
				return -1
			}
			return *p.Error
		}
		for i, p := range r.Problems {
			of := at(p)
			require.True(t, of >= -1 && of < len(r.Errors) && p.Detail != "", "problem %+v", p)
			if i > 0 && at(r.Problems[i-1]) == of && r.Problems[i-1].Code == p.Code {
				t.Fatalf("%s twice for error %d", p.Code, of)
			}
			if p.Code == "location" != (of >= 0 && r.Errors[of].Place == analysis.Absent) && p.Code == "location" {
				t.Fatalf("error %d is %s", of, r.Errors[of].Place)
			}
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyReport().Draw(t, "report")
		texts := anyTexts(t, r)
		r.Locate(texts)
		r.Check(texts, analysis.Rules{})
		data, err := json.Marshal(r)
		require.NoError(t, err)
		var back analysis.Report
		err = json.Unmarshal(data, &back)
		require.NoError(t, err, "%s", data)
		valid := cmp.Transformer("utf8", func(s string) string { return string([]rune(s)) })
		require.Equal(t, "", cmp.Diff(r, &back, valid, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(analysis.Error{}, "Span")))
		for i := range r.Errors {
			require.Equal(t, back.Errors[i].Span, r.Errors[i].Span, "spans differ")
		}
	})
}

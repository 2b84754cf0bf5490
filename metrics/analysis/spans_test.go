package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/analysis"
)

// marks reads "2-5 major, 7-8" as errors; one without digits has no span.
func marks(s string) []analysis.Error {
	var out []analysis.Error
	for part := range strings.SplitSeq(s, ", ") {
		at, severity, _ := strings.Cut(part, " ")
		e := analysis.Error{Place: analysis.Absent, Severity: analysis.Severity(severity)}
		if _, err := fmt.Sscanf(at, "%d-%d", &e.Span.Start, &e.Span.End); err == nil {
			e.Place = analysis.InHypothesis
		}
		if at != "" {
			out = append(out, e)
		}
	}
	return out
}

// The figures are by hand.
func TestCompareSpans(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"nothing", "", "", "0 of 0, 0; 0 of 0, 0; 0 of 0, 0; 0 of 0, 0; unplaced 0, 0; []"},
		{"equal", "2-5 major", "2-5 major", "1 of 1, 1; 1 of 1, 1; 3 of 3, 3; 3 of 3, 3; unplaced 0, 0; [[major major]]"},
		{"another severity", "2-5 major", "2-5 minor", "1 of 1, 1; 1 of 1, 1; 3 of 3, 3; 1.5 of 3, 3; unplaced 0, 0; [[major minor]]"},
		{"half", "0-4 major", "2-6 major", "0 of 1, 1; 0.5 of 1, 1; 2 of 4, 4; 2 of 4, 4; unplaced 0, 0; [[major major]]"},
		{"touching", "0-4 major", "4-6 major", "0 of 1, 1; 0 of 1, 1; 0 of 4, 2; 0 of 4, 2; unplaced 0, 0; []"},
		{"one side alone", "0-4 major", "", "0 of 1, 0; 0 of 1, 0; 0 of 4, 0; 0 of 4, 0; unplaced 0, 0; []"},
		// A span is paired once, and its copy with nothing.
		{"duplicates", "0-2 minor, 0-2 major", "0-2 minor", "1 of 2, 1; 1 of 2, 1; 2 of 2, 2; 1 of 2, 2; unplaced 0, 0; [[minor minor]]"},
		// 0-4 goes with 0-3 (6/7), so that 1-6 is left for 4-6 (4/7).
		{"overlapping", "0-4 major, 1-6 major", "0-3 major, 4-6 minor", "0 of 2, 2; 1.4286 of 2, 2; 5 of 6, 5; 4 of 6, 5; unplaced 0, 0; [[major major] [major minor]]"},
		{"a worse one within", "0-9 minor, 3-6 major", "3-6 major", "1 of 2, 1; 1 of 2, 1; 3 of 9, 3; 3 of 9, 3; unplaced 0, 0; [[major major]]"},
		{"no span", "- major, 0-1 minor", "-", "0 of 1, 0; 0 of 1, 0; 0 of 1, 0; 0 of 1, 0; unplaced 1, 1; []"},
		{"severity not stated", "0-2", "0-2 minor", "1 of 1, 1; 1 of 1, 1; 2 of 2, 2; 1 of 2, 2; unplaced 0, 0; [[ minor]]"},
		{"far away", "0-1000000000000 major", "0-1 major", "0 of 1, 1; 0 of 1, 1; 1 of 1000000000000, 1; 1 of 1000000000000, 1; unplaced 0, 0; [[major major]]"},
	} {
		if d := cmp.Diff(c.want, describe(analysis.CompareSpans(marks(c.a), marks(c.b)))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func describe(s *analysis.SpanAgreement) string {
	var b strings.Builder
	for _, o := range []analysis.Overlap{s.Exact, s.Partial, s.Characters, s.Graded} {
		fmt.Fprintf(&b, "%g of %d, %d; ", math.Round(o.Credit*1e4)/1e4, o.Of[0], o.Of[1])
	}
	fmt.Fprintf(&b, "unplaced %d, %d; %v", s.Unplaced[0], s.Unplaced[1], s.Severities)
	return b.String()
}

// Characters are runes: the spans of a located report count as many as people see.
func TestCompareSpansOfRunes(t *testing.T) {
	texts := analysis.Texts{Hypothesis: "猫が三匹いる。"}
	report := func(location string) []analysis.Error {
		r := &analysis.Report{Errors: []analysis.Error{{Location: location, Severity: analysis.Major}}}
		r.Locate(texts)
		return r.Errors
	}
	s := analysis.CompareSpans(report("三匹"), report("三匹いる"))
	if got := s.Characters; got != (analysis.Overlap{Credit: 2, Of: [2]int{2, 4}}) {
		t.Errorf("%+v", got)
	}
	if p, r, f := s.Characters.Precision(), s.Characters.Recall(), s.Characters.F1(); p != 0.5 || r != 1 || math.Abs(f-2.0/3) > 1e-12 {
		t.Errorf("precision %v, recall %v, F1 %v", p, r, f)
	}
}

// Texts add up: it is no mean of their values.
func TestSpanAgreementAdd(t *testing.T) {
	s := &analysis.SpanAgreement{}
	for _, pair := range [][2]string{{"0-2 major", "0-2 minor"}, {"0-1 minor, 4-6 major, 8-9 minor", "4-6 major"}, {"", "0-3 minor"}, {"0-3 critical", "0-3"}} {
		s.Add(analysis.CompareSpans(marks(pair[0]), marks(pair[1])))
	}
	const want = "3 of 5, 4; 3 of 5, 4; 7 of 9, 10; 4.5 of 9, 10; unplaced 0, 0; [[major minor] [major major] [critical ]]"
	if d := cmp.Diff(want, describe(s)); d != "" {
		t.Error(d)
	}
	// Of major-minor and major-major: ranks 1, 3, 3, 3 as mid-ranks 0, 2, 2, 2;
	// observed 8, expected 24/3.
	if n, equal, alpha := s.SeverityAgreement(); n != 2 || equal != 0.5 || math.Abs(alpha) > 1e-12 {
		t.Errorf("%d pairs, equal %v, alpha %v", n, equal, alpha)
	}
}

// F1 is symmetric, between 0 and 1, and 1 for the same marks.
func TestCompareSpansProperties(t *testing.T) {
	errors := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) analysis.Error {
		start := rapid.IntRange(0, 6).Draw(t, "start")
		return analysis.Error{
			Place:    rapid.SampledFrom([]analysis.Place{analysis.InHypothesis, analysis.Approximate, analysis.Absent}).Draw(t, "place"),
			Span:     analysis.Span{Start: start, End: start + rapid.IntRange(1, 5).Draw(t, "length")},
			Severity: rapid.SampledFrom([]analysis.Severity{"", "neutral", "minor", "major", "odd"}).Draw(t, "severity"),
		}
	}), 0, 6)
	all := func(s *analysis.SpanAgreement) []analysis.Overlap {
		return []analysis.Overlap{s.Exact, s.Partial, s.Characters, s.Graded}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := errors.Draw(t, "a"), errors.Draw(t, "b")
		there, back := analysis.CompareSpans(a, b), analysis.CompareSpans(b, a)
		for i, o := range all(there) {
			other := all(back)[i]
			if o.Of != [2]int{other.Of[1], other.Of[0]} || math.Abs(o.Credit-other.Credit) > 1e-9 {
				t.Fatalf("%d: %+v, and the other way round %+v", i, o, other)
			}
			if o.Credit < 0 || o.Credit > float64(slices.Min(o.Of[:]))+1e-9 {
				t.Fatalf("%d: %+v", i, o)
			}
		}
		if there.Graded.Credit > there.Characters.Credit || there.Exact.Credit > there.Partial.Credit+1e-9 {
			t.Fatalf("%s", describe(there))
		}
		for i, o := range all(analysis.CompareSpans(a, a)) {
			if o.Of[0] > 0 && math.Abs(o.F1()-1) > 1e-9 {
				t.Fatalf("%d: F1 with itself is %v", i, o.F1())
			}
		}
	})
}

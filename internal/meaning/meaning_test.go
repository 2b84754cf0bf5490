package meaning_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/meaning"
)

// The figures are those of SciPy 1.17.1: binomtest(k, n).proportion_ci(method="wilson").
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{17, 156, 0.069159, 0.167585},
		{0, 50, 0, 0.071348},
		{50, 50, 0.928652, 1},
		{40, 50, 0.669629, 0.887562},
		{0, 0, 0, 1},
	} {
		low, high := meaning.Wilson(c.k, c.n)
		if math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: [%f, %f]; want [%f, %f]", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// variants is a segment with variants as words: audit, auditor and review,
// separated by colons; a ! in front means that they are rejected now.
func variants(words ...string) *refract.Segment {
	s := &refract.Segment{}
	for _, w := range words {
		w, rejected := strings.CutPrefix(w, "!")
		p := strings.Split(w, ":")
		v := refract.Variant{Model: "m", Audit: p[0], AuditedBy: p[1], Review: p[2], Origin: &refract.Origin{ServedModel: "m-2024"}}
		if rejected {
			s.Rejected = append(s.Rejected, v)
		} else {
			s.Variants = append(s.Variants, v)
		}
	}
	return s
}

// aside gives the rejected variants the verdicts that an audit, people or a
// selection leave.
func aside(s *refract.Segment) *refract.Segment {
	for i := range s.Rejected {
		v := &s.Rejected[i]
		if v.Verdict = selection.NotSelected; v.Audit == refract.AuditLost || v.Review == refract.ReviewReject {
			v.Verdict = "not-equivalent"
		}
	}
	return s
}

// Of a selection that leaves out next to nothing, the estimate is that of the set.
func TestBeforeSelection(t *testing.T) {
	for _, c := range []struct {
		inSet, aside int
		want         bool
	}{{0, 0, false}, {9, 1, false}, {8, 1, true}, {0, 1, true}} {
		e := meaning.Estimate{Kept: 9, Of: 10, InSet: c.inSet, Aside: c.aside}
		if got := e.BeforeSelection(); got != c.want {
			t.Errorf("%d in the set, %d not: %t", c.inSet, c.aside, got)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		seg  *refract.Segment
		want string
	}{
		{"nothing drawn", variants("::", "::accept", "!::reject"), "meaning kept: not measured"},
		{"drawn for people", variants("sampled::", "::accept", "!sampled::reject"), "meaning kept: not measured; people have decided on 1 of the 2 variants that were drawn for it"},
		{"lost ones count where they are rejected", variants("kept:j:", "kept:j:", "::", "!lost:j:"), "meaning kept: 67 % [21, 94] (n = 3, judged by j)"},
		{"unclear is neither", variants("kept:j:", "unclear:j:", "!lost:j:"), "meaning kept: 50 % [9, 91] (n = 2, judged by j, who left 1 unclear)"},
		{"no model audits itself", variants("kept:m:", "kept:m-2024:"), "meaning kept: not measured; people have decided on 0 of the 2 variants that were drawn for it"},
		{"people, who look at all that was drawn", variants("sampled::accept", "kept:j:edit", "!lost:j:accept", "::reject"),
			"meaning kept, by eye: 67 % [21, 94] (n = 3, judged by people) | meaning kept: 50 % [9, 91] (n = 2, judged by j)"},
		{"nobody knows", variants("unclear:j:"), "meaning kept: not measured; the judge was asked about 1 variants, and said neither yes nor no of any; people have decided on 0 of the 1 variants that were drawn for it"},
		{"a part was selected since", aside(variants("kept:j:", "kept:j:", "::", "!kept:j:", "!lost:j:")),
			"meaning kept: 75 % [30, 95] (n = 4, judged by j; measured before selection, 2 of the 4 are in this set)"},
		{"people decided before selection", aside(variants("sampled::accept", "!sampled::accept", "!sampled::reject")),
			"meaning kept, by eye: 67 % [21, 94] (n = 3, judged by people; measured before selection, 1 of the 3 are in this set)"},
		{"what was drawn of the selected ones", aside(variants("kept:j:", "!::", "!lost:j:")), "meaning kept: 50 % [9, 91] (n = 2, judged by j)"},
	} {
		var tally meaning.Tally
		tally.Add(c.seg)
		f := tally.Findings()
		if len(f) != 1 {
			t.Fatalf("%s: %v", c.name, f)
		}
		if got := strings.Join(f[0].Lines(), " | "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestWorst(t *testing.T) {
	f := meaning.Finding{Estimates: []meaning.Estimate{{By: "a", Kept: 9, Of: 10}, {By: "b", Kept: 8, Of: 10}}}
	if got := f.Worst().By; got != "b" {
		t.Errorf("the judge %q decides", got)
	}
	f.Estimates = append([]meaning.Estimate{{Kept: 10, Of: 10}}, f.Estimates...)
	if got := f.Worst().By; got != "" {
		t.Errorf("the judge %q decides, and not people", got)
	}
	if f = (meaning.Finding{}); f.Worst() != nil {
		t.Error("an estimate of nothing")
	}
}

func TestManyModels(t *testing.T) {
	var tally meaning.Tally
	for i := range 300 {
		tally.Add(&refract.Segment{Variants: []refract.Variant{{Model: fmt.Sprint(i)}, {Model: "0"}}})
	}
	f := tally.Findings()
	if n := len(f); n != 101 || f[n-1].Model != "(others)" || f[n-1].Variants != 200 || f[0].Variants != 301 {
		t.Errorf("%d findings, the last is %+v", n, f[n-1])
	}
}

func TestAdvice(t *testing.T) {
	for want, e := range map[string]meaning.Estimate{
		"too weak":  {Kept: 17, Of: 156},
		"too many":  {Kept: 39, Of: 50},
		"too small": {Kept: 42, Of: 50},
		"publish":   {Kept: 195, Of: 200},

		"select first": {Kept: 195, Of: 200, InSet: 80, Aside: 115},
	} {
		if got := e.Advice(.8); !strings.Contains(got, want) {
			t.Errorf("%s: %s", &e, got)
		}
	}
}

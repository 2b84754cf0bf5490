package publish_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/diversify/selection"
)

// The expected values come from SciPy 1.17.1: binomtest(k, n).proportion_ci(method="wilson").
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{17, 156, 0.069159, 0.167585},
		{0, 50, 0, 0.071348},
		{50, 50, 0.928652, 1},
		{40, 50, 0.669629, 0.887562},
	} {
		f := publish.Finding{Kept: c.k, Drawn: c.n}
		low, high := f.Interval()
		if math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: [%f, %f]; want [%f, %f]", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// variants returns a segment with variants described by words: the audit and people's decision,
// separated by a colon; a leading ! means that the variant is now rejected.
func variants(words ...string) *refract.Segment {
	s := &refract.Segment{}
	for _, w := range words {
		w, rejected := strings.CutPrefix(w, "!")
		audit, review, _ := strings.Cut(w, ":")
		v := refract.Variant{Model: "m", Audit: audit, Review: review}
		if !rejected {
			s.Variants = append(s.Variants, v)
			continue
		}
		if v.Verdict = "review"; v.Review != refract.ReviewReject {
			v.Verdict = selection.NotSelected
		}
		s.Rejected = append(s.Rejected, v)
	}
	return s
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name       string
		seg        *refract.Segment
		want, todo string
	}{
		{"nothing drawn", variants(":", ":accept", "!:reject"), "meaning kept: not measured", "'refract review' shows"},
		{"not all decided", variants("sampled:", ":accept", "!sampled:reject"), "meaning kept: not measured; people have decided on 1 of the 2 variants that were drawn for it", "'refract review' shows"},
		{"all that was drawn, another wording is no kept one", variants("sampled:accept", "kept:edit", "sampled:accept", ":reject"),
			"meaning kept, by eye: 67 % [21, 94] (n = 3, judged by people)", "take a stronger model"},
		{"before selection", variants("sampled:accept", "!sampled:accept", "!sampled:reject"),
			"meaning kept, by eye: 67 % [21, 94] (n = 3, judged by people; measured before selection, 1 of the 3 are in this set)", "take a stronger model"},
		{"few", variants("sampled:accept"), "meaning kept, by eye: 100 % [21, 100] (n = 1, judged by people)", "too small to be sure"},
		{"selected", variants("sampled:accept", "!sampled:accept"),
			"meaning kept, by eye: 100 % [34, 100] (n = 2, judged by people; measured before selection, 1 of the 2 are in this set)", "the selected set"},
		{"many", variants(slices.Repeat([]string{"sampled:accept"}, 50)...), "meaning kept, by eye: 100 % [93, 100] (n = 50, judged by people)", "enough of them to publish"},
	} {
		var tally publish.Tally
		tally.Add(c.seg)
		f := tally.Findings()
		if len(f) != 1 || f[0].String() != c.want || !strings.Contains(f[0].Advice(), c.todo) {
			t.Errorf("%s:\n%s; %s\nwant\n%s; %s", c.name, &f[0], f[0].Advice(), c.want, c.todo)
		}
	}
}

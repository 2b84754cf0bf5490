package diversify_test

import (
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
)

// An answer that a person or a judge rejected is not accepted when an equal answer occurs
// elsewhere; other answers are.
func TestRejectedStaysRejected(t *testing.T) {
	const text = "At eight the train leaves."
	for name, no := range map[string]refract.Variant{
		"a person":      {Verdict: "review", Review: "reject"},
		"the judge":     {Verdict: diversify.NotEquivalent, Detail: "judged by j"},
		"the audit":     {Verdict: diversify.NotEquivalent, Audit: "lost"},
		"judge unclear": {Verdict: diversify.Unjudged},
	} {
		for _, checks := range [][]string{{"duplicate"}, {"length"}} {
			for _, last := range []bool{false, true} {
				no.Text = refract.Text{Value: text, Valid: true}
				equal := refract.Variant{Verdict: check.ReasonDuplicate, Text: refract.Text{Value: "at eight, the train leaves", Valid: true}}
				other := refract.Variant{Verdict: check.ReasonDuplicate, Text: refract.Text{Value: "The train goes at eight.", Valid: true}}
				s := &refract.Segment{
					ID: "a", References: []refract.Text{{Value: "The train leaves at eight.", Valid: true}},
					Rejected: []refract.Variant{no, equal, other},
				}
				if last {
					s.Rejected = []refract.Variant{equal, other, no}
				}
				judged := diversify.NewCounts(checker(t, checks...)).Add(s)
				if n := len(judged.Variants); n != 1 || judged.Variants[0].Text.Value != other.Text.Value {
					t.Fatalf("%s, last %v: %d accepted: %+v", name, last, n, judged.Variants)
				}
				for _, v := range judged.Rejected {
					if v.Review == "" && v.Text.Value != text && (v.Verdict != check.ReasonDuplicate || !strings.Contains(v.Detail, "rejected")) {
						t.Errorf("%s, last %v: %s: %s", name, last, v.Verdict, v.Detail)
					}
				}
			}
		}
	}
}

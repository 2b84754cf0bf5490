package publish_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/publish"
)

func TestChecked(t *testing.T) {
	planted := func(caught, missed int) (out []refract.Planted) {
		for i := range caught + missed {
			out = append(out, refract.Planted{Kind: []string{"negation", "name"}[i%2], Caught: i < caught})
		}
		return out
	}
	for _, c := range []struct {
		judged refract.Judged
		want   string
	}{
		{refract.Judged{}, "meaning not checked"},
		{refract.Judged{Model: "j", Asked: 900, Flagged: 61, Planted: planted(46, 4), Human: 50, HumanFlagged: 2},
			"meaning checked by j: caught 46 of 50 planted changes (81–98 %): negation 23 of 25, name 23 of 25; flagged 2 of 50 human references (0.5–14 %); flagged 61 of 900 answers (5–9 %); estimated changed among accepted: 0.3 % (0–"},
		{refract.Judged{Model: "j", Asked: 900, Flagged: 61, Planted: planted(46, 4)},
			"meaning checked by j: caught 46 of 50 planted changes (81–98 %): negation 23 of 25, name 23 of 25; flagged 61 of 900 answers (5–9 %); changed among accepted: at most "},
		{refract.Judged{Model: "j", Asked: 900, Flagged: 450, Planted: planted(25, 25), Human: 50, HumanFlagged: 25},
			"meaning not known: j is not shown to be better than chance: caught 25 of 50 planted changes (36–64 %): negation 13 of 25, name 12 of 25; flagged 25 of 50 human references (36–64 %); flagged 450 of 900 answers (47–53 %); no estimate"},
		{refract.Judged{Model: "j", Asked: 10}, "meaning checked by j: it flagged 0 of 10 answers (0–31 %); how many changes it misses was not measured"},
	} {
		checked := &publish.Checked{}
		checked.Add(&refract.Segment{Judged: &c.judged, Variants: make([]refract.Variant, c.judged.Asked-c.judged.Flagged)})
		got := checked.String()
		assert.True(t, strings.HasPrefix(got, c.want), "%+v:\n%s\nwant\n%s", c.judged, got, c.want)
	}
	// A selection has fewer variants, and a judge may give no verdict.
	some := &publish.Checked{}
	some.Add(&refract.Segment{Variants: make([]refract.Variant, 4), Judged: &refract.Judged{Model: "j", Asked: 10, Unjudged: 2}})
	if got := some.String(); !strings.HasSuffix(got, "; this is of the 10 answers that it let pass, of which 4 are here; without a verdict: 2 texts") {
		t.Error(got)
	}
	mute := &publish.Checked{}
	mute.Add(&refract.Segment{Judged: &refract.Judged{Model: "j", Unjudged: 12}})
	assert.Equal(t, "meaning not known: j gave no verdict on an answer; without a verdict: 12 texts", mute.String())
	// Variants that no judge has seen are mentioned; two judges cannot be measured together.
	checked := &publish.Checked{}
	checked.Add(&refract.Segment{Variants: make([]refract.Variant, 3), Judged: &refract.Judged{Model: "j", Asked: 2, Flagged: 1}})
	checked.Add(&refract.Segment{Variants: make([]refract.Variant, 4)})
	got := checked.String()
	assert.True(t, strings.HasSuffix(got, "; not shown to it: 6 accepted variants"), got)
	checked.Add(&refract.Segment{Judged: &refract.Judged{Model: "k", Asked: 1}})
	got = checked.String()
	assert.True(t, strings.HasPrefix(got, "meaning checked by j and k, "), got)
}

package experiment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

// A blank variant is chosen last, but it is chosen: the last point of a curve has the
// references of "all".
func TestOrdersKeepBlankVariants(t *testing.T) {
	seg := &refract.Segment{ID: "a", References: []refract.Text{refract.NewText("one two")}}
	for _, text := range []refract.Text{refract.NewText(" "), refract.NewText("one three"), {}} {
		seg.Variants = append(seg.Variants, refract.Variant{Text: text})
	}
	d := &data{segments: []*refract.Segment{seg}, variants: true}
	for _, m := range []selection.Method{selection.ByOrder, selection.ByRandom, selection.ByFarthest, selection.ByFacility} {
		o, err := d.orders(t.Context(), m, 1)
		require.NoError(t, err)
		if got := fmt.Sprint(o.take(1), o.take(2)); got != "[[0 2]] [[0 1 2]]" {
			t.Errorf("%v: %s", m, got)
		}
	}
	c, err := d.shuffled(t.Context(), columnsOf{{1, 2}}, 1)
	if got := fmt.Sprint(c, err); got != "[[2 1]] <nil>" {
		t.Errorf("shuffled: %s", got)
	}
}

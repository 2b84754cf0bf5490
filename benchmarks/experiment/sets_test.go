package experiment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
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
		assert.Equal(t, "[0 2] [0 1 2]", fmt.Sprint(o.take(0, 1), o.take(0, 2)), m)
	}
	c, err := d.shuffled(t.Context(), columnsOf{{1, 2}}, 1)
	assert.Equal(t, "[[2 1]] <nil>", fmt.Sprint(c, err), "shuffled")
}

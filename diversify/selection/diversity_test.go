package selection_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/diversify/selection"
)

// The expected values are worked out by hand; BLEU has its own tests.
func TestDiversity(t *testing.T) {
	all := selection.NewDiversity()
	for _, texts := range [][]string{
		{"It rains.", "It pours."},
		{"It rained all night.", "It rained all night.", " "},
		{"alone"}, {}, {"", "one"},
		{"!", "?"},
	} {
		all.Add(texts)
	}
	want := []struct {
		name     string
		segments int
		value    float64
	}{{"distinct-1", 2, (0.75 + 0.5) / 2}, {"distinct-2", 2, (1 + 0.5) / 2}}
	for i, w := range want {
		if m := all.Means[i]; m.Measure != w.name || m.Segments != w.segments || math.Abs(m.Value()-w.value) > 1e-9 {
			t.Errorf("%+v, %v; want %+v", m, m.Value(), w)
		}
	}
	m := all.Means[2]
	assert.True(t, m.Measure == "self-bleu" && m.Segments == 3, "%+v", m)
	same := selection.NewDiversity()
	same.Add([]string{"It rained all night long.", "It rained all night long."})
	if got := same.Means[2].Value(); math.Abs(got-100) > 1e-6 {
		t.Errorf("self-BLEU of equal texts is %v", got)
	}
	v := selection.NewDiversity().Means[0].Value()
	assert.True(t, math.IsNaN(v), "the mean of nothing is %v", v)
}

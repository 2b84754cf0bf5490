package correlate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/benchmarks/correlate"
)

func TestLevelGroups(t *testing.T) {
	places := []correlate.Place{
		{"1", "one", "news"}, {"2", "one", "talk"}, {"3", "two", "news"}, {"4", "one", "news"},
	}
	for level, want := range map[correlate.Level][]int32{
		correlate.SegmentLevel:  {0, 1, 2, 3},
		correlate.DocumentLevel: {0, 1, 2, 0}, // the same name in two domains is two documents
		correlate.DomainLevel:   {0, 1, 0, 0},
		correlate.SystemLevel:   {0, 0, 0, 0},
	} {
		of, groups, err := level.Groups(places)
		if err != nil || !slices.Equal(of, want) || groups != int(slices.Max(want))+1 {
			t.Errorf("%v: %v of %d, %v; want %v", level, of, groups, err, want)
		}
		again, err := correlate.ParseLevel(level.String())
		assert.True(t, err == nil && again == level, "ParseLevel(%q) = %v, %v", level, again, err)
	}
	for level, place := range map[correlate.Level]correlate.Place{
		correlate.DocumentLevel: {Segment: "5", Domain: "news"},
		correlate.DomainLevel:   {Segment: "5", Document: "one"},
	} {
		_, _, err := level.Groups(append(slices.Clone(places), place))
		assert.ErrorContains(t, err, `segment "5" has no `+level.String(), level)
	}
	_, err := correlate.ParseLevel("seg")
	assert.ErrorContains(t, err, "segment", "seg")
}

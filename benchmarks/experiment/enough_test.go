package experiment

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The first point that is not clearly below all references is enough, even if a later one
// is below them by chance; a point without an interval does not count.
func TestEnough(t *testing.T) {
	below, near := &Range{Low: -0.2, High: -0.1}, &Range{Low: -0.1, High: 0.1}
	for _, c := range []struct {
		ranges []*Range
		want   int
	}{
		{[]*Range{near, below, near}, 1}, {[]*Range{below, near, near}, 2}, {[]*Range{nil, near}, 2}, {[]*Range{nil, nil}, 0},
	} {
		var points []Point
		for i, r := range c.ranges {
			points = append(points, Point{References: i + 1, ToAllRange: r})
		}
		assert.Equal(t, c.want, enough(points), c.ranges)
	}
}

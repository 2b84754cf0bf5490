package figure

import (
	"errors"
	"math"
)

// Scatter is a plot of dots around two zero lines, of differences that should
// have the same sign. The quadrants in which they have it are shaded.
type Scatter struct {
	Title, X, Y string
	Opposite    bool     // the signs should differ
	Series      []Series // of a point X and Y are drawn
}

func (s *Scatter) chart(t theme) (*chart, error) {
	c := &chart{title: label(s.Title), x: axis{label: label(s.X)}, y: axis{label: label(s.Y)}}
	names := 0
	for i := range s.Series {
		points, _ := s.Series[i].drawn()
		if len(points) == 0 {
			continue
		}
		dots := layer{name: label(s.Series[i].Name), tone: toneOf(s.Series, t, i), at: points, glyph: shape(i), size: 2.2}
		dots.tone.A = 190 // dots on each other are seen
		c.add(dots)
		if dots.name != "" {
			names++
		}
	}
	if len(c.layers) == 0 {
		return nil, errors.New("a scatter plot needs at least one dot")
	}
	c.fit()
	// The zero lines are within, and the names stand above the dots.
	c.x.low, c.x.high = widened(min(0, c.x.low), max(0, c.x.high), 0)
	c.y.low, c.y.high = widened(min(0, c.y.low), max(0, c.y.high), float64(names)/14)
	c.layers = append(s.ground(t, spot{c.x.low, c.y.low}, spot{c.x.high, c.y.high}), c.layers...)
	return c, nil
}

// widened leaves room beyond the dots, but not on a side that has none, and a
// share of the range above them.
func widened(low, high, above float64) (float64, float64) {
	room := (high - low) / 20
	if room == 0 {
		room = math.Max(1, math.Abs(high)/20)
	}
	if low < 0 {
		low -= room
	}
	if high > 0 || low == 0 {
		high += room
	}
	return low, high + above*(high-low)
}

// ground is the quadrants and the zero lines.
func (s *Scatter) ground(t theme, low, high spot) []layer {
	var layers []layer
	shade := t.tone(2)
	shade.A = 26
	for _, right := range []bool{true, false} {
		corner := low
		if right {
			corner.X = high.X
		}
		if right != s.Opposite {
			corner.Y = high.Y
		}
		if corner.X != 0 && corner.Y != 0 {
			layers = append(layers, layer{tone: shade, at: []spot{{}, {corner.X, 0}, corner, {0, corner.Y}}})
		}
	}
	for _, ends := range [][]spot{{{low.X, 0}, {high.X, 0}}, {{0, low.Y}, {0, high.Y}}} {
		layers = append(layers, layer{tone: t.quiet, width: 0.8, at: ends})
	}
	return layers
}

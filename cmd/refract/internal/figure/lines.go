package figure

import (
	"image/color"
	"math"
	"slices"
)

// Lines is a line chart over whole numbers.
type Lines struct {
	Title, X, Y string
	Series      []Series
	low, high   float64 // of a shared Y axis; both 0 without one
}

// Series is a line. It skips points whose X or Y is not finite.
type Series struct {
	Name   string
	Points []Point
	Muted  bool // grey, for a series that the others are compared with
}

// Point is a point of a line, with the bounds of its interval, NaN for none.
type Point struct{ X, Y, Low, High float64 }

// ShareY gives charts one Y axis, from the least to the largest value that any of
// them draws.
func ShareY(charts ...*Lines) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range charts {
		for _, s := range l.Series {
			points, outline := s.drawn()
			for _, p := range slices.Concat(points, outline) {
				low, high = min(low, p.Y), max(high, p.Y)
			}
		}
	}
	for _, l := range charts {
		l.low, l.high = low, high
	}
}

func (l *Lines) chart(t theme) *chart {
	c := &chart{title: label(l.Title), x: axis{label: label(l.X), ticks: wholeTicks}, y: axis{label: label(l.Y)}}
	for i, s := range l.Series {
		points, outline := s.drawn()
		if len(points) == 0 {
			continue
		}
		tone := toneOf(l.Series, t, i)
		if len(outline) > 2 {
			shade := tone
			shade.A = 36
			c.add(layer{tone: shade, at: outline})
		}
		c.add(layer{name: label(s.Name), tone: tone, width: 1.8, at: points})
		// Dots mark the points with an interval.
		dots := layer{tone: tone, glyph: shape(i), size: 2.4}
		for _, p := range s.Points {
			if finite(p.X, p.Y, p.Low, p.High) {
				dots.at = append(dots.at, datum(p.X, p.Y))
			}
		}
		c.add(dots)
	}
	c.fit()
	if l.low < l.high {
		margin := (l.high - l.low) / 20
		c.y.low, c.y.high = l.low-margin, l.high+margin
	}
	return c
}

// toneOf returns the colour of a series.
func toneOf(all []Series, t theme, i int) color.NRGBA {
	if all[i].Muted {
		return t.muted
	}
	coloured := 0
	for _, s := range all[:i] {
		if !s.Muted {
			coloured++
		}
	}
	return t.tone(coloured)
}

// drawn returns the points that can be drawn, and the outline of the band.
func (s *Series) drawn() (points, outline []spot) {
	var high []spot
	for _, p := range s.Points {
		if !finite(p.X, p.Y) {
			continue
		}
		points = append(points, datum(p.X, p.Y))
		if finite(p.Low, p.High) {
			outline = append(outline, datum(p.X, p.Low))
			high = append(high, datum(p.X, p.High))
		}
	}
	slices.Reverse(high)
	return points, append(outline, high...)
}

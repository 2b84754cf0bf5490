package figure

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter is a plot of dots around two zero lines, of differences that should
// have the same sign. The quadrants in which they have it are shaded.
type Scatter struct {
	Title, X, Y string
	Opposite    bool     // the signs should differ
	Series      []Series // of a point X and Y are drawn
}

func (s *Scatter) room(*plot.Plot) (vg.Length, int) { return 0, 0 }

func (s *Scatter) name(*plot.Plot, theme, draw.Canvas) {}

func (s *Scatter) plot(p *plot.Plot, t theme) error {
	drawn := make([]plotter.XYs, len(s.Series))
	var low, high plotter.XY // the zero lines are within
	dots, names := 0, 0
	for i := range s.Series {
		drawn[i], _ = s.Series[i].drawn()
		for _, d := range drawn[i] {
			low = plotter.XY{X: min(low.X, d.X), Y: min(low.Y, d.Y)}
			high = plotter.XY{X: max(high.X, d.X), Y: max(high.Y, d.Y)}
		}
		if dots += len(drawn[i]); len(drawn[i]) > 0 && s.Series[i].Name != "" {
			names++
		}
	}
	if dots == 0 {
		return errors.New("a scatter plot needs at least one dot")
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = label(s.Title), label(s.X), label(s.Y)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	low.X, high.X = widened(low.X, high.X, 0)
	low.Y, high.Y = widened(low.Y, high.Y, float64(names)/14) // the names stand above the dots
	if err := s.ground(p, t, low, high); err != nil {
		return err
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.ThumbnailWidth, p.Legend.Padding = 4*vg.Millimeter, vg.Millimeter
	p.Legend.XOffs, p.Legend.YOffs = 2*vg.Millimeter, -vg.Millimeter
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = p.X.Tick.Label.Font, t.ink
	for i, points := range drawn {
		if len(points) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		tone := toneOf(s.Series, t, i)
		tone.A = 190 // dots on each other are seen
		marks.Color, marks.Shape, marks.Radius = tone, shape(i), vg.Points(2.2)
		p.Add(marks)
		if s.Series[i].Name != "" {
			p.Legend.Add(label(s.Series[i].Name), marks)
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low.X, high.X, low.Y, high.Y
	return nil
}

// widened leaves room beyond the dots, but not on a side that has none, and a
// share of the range above them.
func widened(low, high, above float64) (float64, float64) {
	room := (high - low) / 20
	if room == 0 || !finite(room) {
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

// ground draws the quadrants and the zero lines.
func (s *Scatter) ground(p *plot.Plot, t theme, low, high plotter.XY) error {
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
		if corner.X == 0 || corner.Y == 0 {
			continue
		}
		area, err := plotter.NewPolygon(plotter.XYs{{}, {X: corner.X}, corner, {Y: corner.Y}})
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = shade, 0
		p.Add(area)
	}
	for _, ends := range []plotter.XYs{{{X: low.X}, {X: high.X}}, {{Y: low.Y}, {Y: high.Y}}} {
		zero, err := plotter.NewLine(ends)
		if err != nil {
			return err
		}
		zero.Color, zero.Width = t.quiet, vg.Points(0.8)
		p.Add(zero)
	}
	return nil
}

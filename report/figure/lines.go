package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines is a line chart.
type Lines struct {
	Title, X, Y string
	WholeX      bool // label whole numbers on the X axis only
	Series      []Series
}

// Series is one line. A point whose X or Y is not finite is left out, and
// the line goes on to the next.
type Series struct {
	Name   string
	Points []Point
	Muted  bool // grey, for what the others are compared with
}

// Point is a point of a line, with the bounds of its interval, NaN for none.
type Point struct{ X, Y, Low, High float64 }

func (l *Lines) legend() []string {
	names := make([]string, len(l.Series))
	for i, s := range l.Series {
		names[i] = s.Name
	}
	return names
}

func (l *Lines) plot(p *plot.Plot, t theme, named bool) error {
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = label(l.Title), label(l.X), label(l.Y)
	if l.WholeX {
		p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	}
	p.Legend.YOffs = 2 * vg.Millimeter
	coloured := 0
	for _, s := range l.Series {
		tone, glyph := t.muted, draw.GlyphDrawer(draw.RingGlyph{})
		if !s.Muted {
			tone, glyph = t.tone(coloured), shape(coloured)
			coloured++
		}
		points, outline := s.drawn()
		if len(points) == 0 {
			continue
		}
		if len(outline) > 2 {
			band, err := plotter.NewPolygon(outline)
			if err != nil {
				return err
			}
			shade := tone
			shade.A = 60
			band.Color, band.LineStyle.Width = shade, 0
			p.Add(band)
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = tone, vg.Points(1.4)
		marks.Color, marks.Shape, marks.Radius = tone, glyph, vg.Points(2.4)
		p.Add(line, marks)
		if named && s.Name != "" {
			p.Legend.Add(label(s.Name), line, marks)
		}
	}
	return nil
}

// drawn returns the points that can be drawn, and the outline of the band.
func (s *Series) drawn() (points, outline plotter.XYs) {
	var high plotter.XYs
	for _, pt := range s.Points {
		if !finite(pt.X, pt.Y) {
			continue
		}
		points = append(points, plotter.XY{X: pt.X, Y: pt.Y})
		if finite(pt.Low, pt.High) {
			outline = append(outline, plotter.XY{X: pt.X, Y: pt.Low})
			high = append(high, plotter.XY{X: pt.X, Y: pt.High})
		}
	}
	for i := range high {
		outline = append(outline, high[len(high)-1-i])
	}
	return points, outline
}

// wholeTicks labels whole numbers, at most about a dozen of them.
func wholeTicks(low, high float64) []plot.Tick {
	step := max(1, math.Ceil((high-low)/12))
	var out []plot.Tick
	for k := math.Ceil(low); k <= high; k += step {
		out = append(out, plot.Tick{Value: k, Label: strconv.FormatFloat(k, 'f', -1, 64)})
	}
	return out
}

package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/refract-eval/refract/report"
)

// Lines is a line chart.
type Lines struct {
	Title, X, Y string
	WholeX      bool // label whole numbers on the X axis only
	Series      []Series
	low, high   float64 // of the Y axis where charts share it; both 0 elsewhere
}

// Series is one line, or the dots of one kind. A point whose X or Y is not finite
// is left out, and the line goes on to the next.
type Series struct {
	Name   string
	Points []Point
	Muted  bool // grey, for what the others are compared with
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

func (l *Lines) plot(p *plot.Plot, t theme) error {
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = label(l.Title), label(l.X), label(l.Y)
	if l.WholeX {
		p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	}
	for i, s := range l.Series {
		tone := toneOf(l.Series, t, i)
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
			shade.A = 36
			band.Color, band.LineStyle.Width = shade, 0
			p.Add(band)
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = tone, vg.Points(1.8)
		p.Add(line)
		if len(outline) == 0 {
			continue
		}
		// A dot stands where an interval does.
		marks, err := plotter.NewScatter(outline[:len(outline)/2])
		if err != nil {
			return err
		}
		for k := range marks.XYs {
			marks.XYs[k].Y = s.at(marks.XYs[k].X)
		}
		marks.Color, marks.Shape, marks.Radius = tone, shape(i), vg.Points(2.4)
		p.Add(marks)
	}
	p.Y.Tick.Marker = plot.TickerFunc(roundTicks)
	if finite(l.low, l.high) && l.low < l.high {
		margin := (l.high - l.low) / 20
		p.Y.Min, p.Y.Max = l.low-margin, l.high+margin
	}
	return nil
}

// toneOf is the colour of one of some series.
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

// at is the value of a series at a place that it has a point for.
func (s *Series) at(x float64) float64 {
	i := slices.IndexFunc(s.Points, func(p Point) bool { return p.X == x && finite(p.Y) })
	return s.Points[i].Y
}

// margin is the room for the names at the ends of lines.
func (l *Lines) margin(p *plot.Plot) vg.Length {
	var most vg.Length
	for _, s := range l.Series {
		most = max(most, l.style(p).Width(label(s.Name)))
	}
	if most > 0 {
		most = most*1.15 + labelGap
	}
	return most
}

// labelGap is what parts a line from its name.
const labelGap = 2 * vg.Millimeter

func (l *Lines) style(p *plot.Plot) draw.TextStyle {
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	return style
}

// name writes the names of the lines beside their ends, apart from each other.
func (l *Lines) name(p *plot.Plot, t theme, c draw.Canvas) {
	inside := p.DataCanvas(c)
	x, y := p.Transforms(&inside)
	type end struct {
		at   vg.Point
		name string
		tone color.Color
	}
	var ends []end
	for i, s := range l.Series {
		points, _ := s.drawn()
		if len(points) == 0 || s.Name == "" {
			continue
		}
		last := points[len(points)-1]
		ends = append(ends, end{vg.Point{X: x(last.X) + labelGap, Y: y(last.Y)}, label(s.Name), toneOf(l.Series, t, i)})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at.Y, b.at.Y) })
	style := l.style(p)
	apart := style.Font.Size * 1.15
	for i := range ends {
		if i > 0 {
			ends[i].at.Y = max(ends[i].at.Y, ends[i-1].at.Y+apart)
		}
		style.Color = ends[i].tone
		c.FillText(style, ends[i].at, ends[i].name)
	}
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

// wholeTicks labels whole numbers: all of a dozen, and round ones of more.
func wholeTicks(low, high float64) []plot.Tick {
	if high-low > 12 {
		const room = 28 // characters
		ticks := roundTicks(low, high)
		if n := len(ticks); n > 2 && n*len(ticks[n-1].Label) > room {
			apart := 2 * (ticks[1].Value - ticks[0].Value)
			ticks = slices.DeleteFunc(ticks, func(t plot.Tick) bool { return math.Mod(t.Value, apart) != 0 })
		}
		return ticks
	}
	var out []plot.Tick
	for k := math.Ceil(low); k <= high; k++ {
		out = append(out, plot.Tick{Value: k, Label: strconv.FormatFloat(k, 'f', -1, 64)})
	}
	return out
}

// roundTicks labels round numbers.
func roundTicks(low, high float64) []plot.Tick {
	ticks, digits := report.Ticks(low, high)
	if len(ticks) == 0 {
		return plot.DefaultTicks{}.Ticks(low, high)
	}
	out := make([]plot.Tick, len(ticks))
	for i, v := range ticks {
		out[i] = plot.Tick{Value: v, Label: report.TrueMinus(strconv.FormatFloat(v, 'f', digits, 64))}
	}
	return out
}

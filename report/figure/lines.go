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

// room is that for the names at the ends of lines.
func (l *Lines) room(p *plot.Plot) (margin vg.Length, rows int) {
	for _, s := range l.Series {
		margin = max(margin, l.style(p).Width(label(s.Name)))
	}
	if margin > 0 {
		margin = margin*1.15 + labelGap
	}
	return margin, len(l.Series)
}

// labelGap is what parts a line from its name.
const labelGap = 3 * vg.Millimeter

func (l *Lines) style(p *plot.Plot) draw.TextStyle {
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	return style
}

// name writes the names of the lines beside their ends, apart from each other. A
// thin line leads to a name that stands off.
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
		ends = append(ends, end{vg.Point{X: x(last.X), Y: y(last.Y)}, label(s.Name), toneOf(l.Series, t, i)})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at.Y, b.at.Y) })
	style := l.style(p)
	at := make([]vg.Length, len(ends))
	for i, e := range ends {
		at[i] = e.at.Y
	}
	spread(at, inside.Min.Y, inside.Max.Y)
	for i, e := range ends {
		beside := vg.Point{X: e.at.X + labelGap, Y: at[i]}
		if off := at[i] - e.at.Y; max(off, -off) > rowHeight/4 {
			c.StrokeLine2(draw.LineStyle{Color: e.tone, Width: vg.Points(0.5)}, e.at.X+vg.Millimeter/2, e.at.Y, beside.X-vg.Millimeter/2, beside.Y)
		}
		style.Color = e.tone
		c.FillText(style, beside, e.name)
	}
}

// spread moves ascending places as little as parts them by a row, within bounds
// that have room for all.
func spread(at []vg.Length, low, high vg.Length) {
	type group struct {
		sum vg.Length // of the places, each less the rows below it
		n   int
	}
	var groups []group
	for i, y := range at {
		g := group{y - rowHeight*vg.Length(i), 1}
		for len(groups) > 0 && groups[len(groups)-1].sum*vg.Length(g.n) > g.sum*vg.Length(groups[len(groups)-1].n) {
			last := groups[len(groups)-1]
			g, groups = group{g.sum + last.sum, g.n + last.n}, groups[:len(groups)-1]
		}
		groups = append(groups, g)
	}
	i := 0
	for _, g := range groups {
		first := max(low, min(g.sum/vg.Length(g.n), high-rowHeight*vg.Length(len(at)-1)))
		for range g.n {
			at[i] = first + rowHeight*vg.Length(i)
			i++
		}
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

package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/refract-eval/refract/report"
)

// The size of one panel.
const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
)

// drawCurves draws the panels side by side, as SVG or PNG by the extension.
func drawCurves(w io.Writer, extension string, cv *curveSet) error {
	n := len(cv.panels)
	plots := make([]*plot.Plot, n)
	for i, p := range cv.panels {
		var err error
		if plots[i], err = p.plot(cv, i == 0); err != nil {
			return fmt.Errorf("plot of %s %s: %w", p.metric, p.aggregate, err)
		}
	}
	width := panelWidth * vg.Length(n)
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	if extension == ".png" {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, panelHeight), vgimg.UseDPI(150))}
	} else {
		canvas = vgsvg.New(width, panelHeight)
	}
	tiles := draw.Tiles{Rows: 1, Cols: n, PadX: vg.Millimeter, PadY: vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	dc := draw.New(canvas)
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, dc)[0] {
		plots[i].Draw(c)
	}
	_, err := canvas.WriteTo(w)
	return err
}

// palette has colours that differ to people who see few (Okabe and Ito, 2008).
func palette(i int) color.RGBA {
	colours := []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255},
		{204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
	}
	return colours[i%len(colours)]
}

func shape(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}
	return shapes[i%len(shapes)]
}

// wholeTicks labels whole numbers, at most about a dozen of them.
func wholeTicks(low, high float64) []plot.Tick {
	step := max(1, math.Ceil((high-low)/12))
	var out []plot.Tick
	for k := math.Ceil(low); k <= high; k += step {
		out = append(out, plot.Tick{Value: k, Label: strconv.Itoa(int(k))})
	}
	return out
}

// plot draws one panel.
func (p *curvePanel) plot(cv *curveSet, legend bool) (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text = report.Visible(p.metric + ", " + p.aggregate)
	out.X.Label.Text = "variants beside the original"
	out.Y.Label.Text = report.Visible(cv.statistic + " with " + cv.human)
	out.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	out.Add(plotter.NewGrid())
	out.Legend.Top = false
	out.Legend.YOffs = 2 * vg.Millimeter
	coloured := 0
	for _, line := range p.lines {
		tone := color.RGBA{110, 110, 110, 255}
		random := false
		var points, low, high plotter.XYs
		for _, pt := range line.points {
			if math.IsNaN(pt.value) {
				continue
			}
			points = append(points, plotter.XY{X: float64(pt.k), Y: pt.value})
			if !math.IsNaN(pt.least) {
				random = true
				low = append(low, plotter.XY{X: float64(pt.k), Y: pt.least})
				high = append(high, plotter.XY{X: float64(pt.k), Y: pt.most})
			}
		}
		if len(points) == 0 {
			continue
		}
		if random {
			for i := range high {
				low = append(low, high[len(high)-1-i])
			}
			band, err := plotter.NewPolygon(low)
			if err != nil {
				return nil, err
			}
			band.Color = color.NRGBA{110, 110, 110, 70}
			band.LineStyle.Width = 0
			out.Add(band)
		}
		l, s, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		if !random {
			tone = palette(coloured)
			s.Shape = shape(coloured)
			coloured++
		} else {
			s.Shape = draw.RingGlyph{}
		}
		l.Color, s.Color = tone, tone
		l.Width, s.Radius = vg.Points(1.2), vg.Points(2.4)
		out.Add(l, s)
		if legend {
			out.Legend.Add(report.Visible(line.name), l, s)
		}
	}
	return out, nil
}

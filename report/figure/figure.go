// Package figure draws line charts with confidence bands, bar charts and scatter
// plots, as SVG for a page and PNG for a paper, for a light or a dark background. The
// drawing is done by gonum.org/v1/plot; this package holds what all figures of
// a report share: colours that differ to people who see few, shapes beside
// colours, and texts that cannot disturb the picture.
package figure

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/refract-eval/refract/report"
)

// Format is a file format.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PNG Format = "png"
)

// The size of one panel, which grows with its names, and the resolution of a PNG.
const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
	aroundPlot  = 2.5 * vg.Centimeter // of the height, for axes and a title
	besidePlot  = 2.5 * vg.Centimeter // of the width, for names
	rowHeight   = 12                  // of names that stand below each other, in points
	dpi         = 150
)

// Style is what a figure looks like. The zero Style has dark lines on white.
type Style struct {
	Format Format // SVG where it is ""
	Dark   bool   // light lines on a dark background
	Clear  bool   // no background: that of the page is seen
}

// Panel is one plot of a figure: a Lines, a Bars or a Scatter.
type Panel interface {
	// plot draws into a fresh plot.
	plot(p *plot.Plot, t theme) error
	// room is how much name needs on the right, and how many names stand below each
	// other; name writes those on the right.
	room(p *plot.Plot) (margin vg.Length, rows int)
	name(p *plot.Plot, t theme, c draw.Canvas)
}

// Draw writes the panels side by side as one picture. The same panels give the
// same bytes.
func Draw(w io.Writer, s Style, panels ...Panel) error {
	if len(panels) == 0 {
		return errors.New("figure: no panels")
	}
	t := lightTheme()
	if s.Dark {
		t = darkTheme()
	}
	plots := make([]*plot.Plot, len(panels))
	var margin vg.Length // on the right of each panel, for what stands beside it
	height := panelHeight
	for i, panel := range panels {
		plots[i] = newPlot(t)
		if err := panel.plot(plots[i], t); err != nil {
			return fmt.Errorf("figure: panel %d: %w", i+1, err)
		}
		beside, rows := panel.room(plots[i])
		margin, height = max(margin, beside), max(height, aroundPlot+rowHeight*vg.Length(rows))
	}
	width := (panelWidth + max(0, margin-besidePlot)) * vg.Length(len(panels))
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch s.Format {
	case SVG, "":
		canvas = vgsvg.New(width, height)
	case PNG:
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(t.paper))}
	default:
		return fmt.Errorf("figure: unknown format %q; choose svg or png", s.Format)
	}
	dc := draw.New(canvas)
	if !s.Clear {
		dc.FillPolygon(t.paper, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: 3*vg.Millimeter + margin,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4*vg.Millimeter + margin}
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, dc)[0] {
		plots[i].Draw(c)
		panels[i].name(plots[i], t, c)
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	return nil
}

// theme is the colours of a figure.
type theme struct {
	paper, ink, quiet, grid color.Color
	tones                   []color.NRGBA // of the series
	muted                   color.NRGBA
}

// lightTheme has the colours of Okabe and Ito (2008), without yellow, which
// is not seen on white.
func lightTheme() theme {
	return theme{
		paper: color.White, ink: color.NRGBA{28, 29, 33, 255}, quiet: color.NRGBA{91, 94, 104, 255}, grid: color.NRGBA{225, 225, 220, 255},
		tones: []color.NRGBA{
			{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
		},
		muted: color.NRGBA{110, 110, 110, 255},
	}
}

// darkTheme has the same hues, lighter where they would sink into the ground.
func darkTheme() theme {
	return theme{
		paper: color.NRGBA{31, 32, 36, 255}, ink: color.NRGBA{232, 232, 228, 255}, quiet: color.NRGBA{164, 167, 176, 255}, grid: color.NRGBA{58, 59, 66, 255},
		tones: []color.NRGBA{
			{86, 180, 233, 255}, {240, 140, 60, 255}, {60, 195, 150, 255}, {222, 150, 190, 255}, {240, 228, 66, 255}, {140, 165, 240, 255},
		},
		muted: color.NRGBA{160, 160, 165, 255},
	}
}

func (t theme) tone(i int) color.NRGBA { return t.tones[i%len(t.tones)] }

// shape is the glyph of a series, so that a figure is read without colours. Where
// colours come again, they come with another one.
func shape(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}
	return shapes[(i+i/len(shapes))%len(shapes)]
}

// newPlot returns a plot in the colours of a theme.
func newPlot(t theme) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the canvas has it
	p.Title.TextStyle.Color = t.ink
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle,
		&p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = "Sans"
	}
	p.Title.Padding = 2 * vg.Millimeter
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color = t.quiet, t.ink
		a.Tick.Color, a.Tick.Label.Color = t.quiet, t.ink
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = t.grid, t.grid
	p.Add(grid)
	return p
}

// label prepares a text of any origin for a picture.
func label(s string) string { return report.Visible(s) }

// finite reports whether a number can be drawn.
func finite(fs ...float64) bool {
	for _, f := range fs {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

// Package figure draws line charts with confidence bands and bar charts as SVG, for a light or a dark background.
//
//  1. A [Panel] turns into a chart: layers of areas, lines and dots in the units
//     of the data, with axes.
//  2. The chart finds its place next to the others, and draws itself as SVG.
//
// All figures share colours that colour-blind people can tell apart, and shapes that tell
// series apart without colour. Texts are escaped.
package figure

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// The size of a panel in points; it grows with its names.
const (
	millimetre  = 72 / 25.4
	panelWidth  = 110 * millimetre
	panelHeight = 90 * millimetre
	aroundPlot  = 25 * millimetre // of the height, for axes and a title
	namesRoom   = 25 * millimetre // of the width, for names
)

// Style is what a figure looks like. The zero Style has dark lines on white.
type Style struct {
	Dark  bool // light lines on a dark background
	Clear bool // no background: the page's own shows through
}

// Panel is one plot of a figure: a Lines or a Bars.
type Panel interface {
	chart(t theme) *chart
}

// Draw writes the panels side by side as one picture. The same panels give the
// same bytes.
func Draw(w io.Writer, s Style, panels ...Panel) error {
	t := lightTheme()
	if s.Dark {
		t = darkTheme()
	}
	charts := make([]*chart, len(panels))
	for i, panel := range panels {
		charts[i] = panel.chart(t)
	}
	r := newRow(charts)
	c := newCanvas(r.width, r.height)
	if !s.Clear {
		c.area(t.paper, []spot{{}, {r.width, 0}, {r.width, r.height}, {0, r.height}})
	}
	for _, f := range r.frames {
		drawing{c, t}.draw(f)
	}
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	return nil
}

// theme is the colours of a figure.
type theme struct {
	paper, ink, quiet, grid color.NRGBA
	tones                   []color.NRGBA // of the series
	muted                   color.NRGBA
}

// lightTheme has the colours of Okabe and Ito (2008), without yellow, which
// cannot be seen on white.
func lightTheme() theme {
	return theme{
		paper: color.NRGBA{255, 255, 255, 255}, ink: color.NRGBA{28, 29, 33, 255}, quiet: color.NRGBA{91, 94, 104, 255}, grid: color.NRGBA{225, 225, 220, 255},
		tones: []color.NRGBA{
			{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
		},
		muted: color.NRGBA{110, 110, 110, 255},
	}
}

// darkTheme has the same hues, lighter where they would be too dark on black.
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

// label makes an untrusted text fit for a picture.
func label(s string) string { return report.Visible(s) }

// finite reports whether all numbers can be drawn.
func finite(fs ...float64) bool {
	for _, f := range fs {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

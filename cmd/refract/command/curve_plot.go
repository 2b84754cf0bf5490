package command

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/refract-eval/refract/report/figure"
)

// drawCurves draws the panels side by side, as SVG or PNG by the extension.
func drawCurves(w io.Writer, extension string, cv *curveSet) error {
	panels := make([]figure.Panel, len(cv.panels))
	for i := range cv.panels {
		panels[i] = cv.panels[i].figure(cv)
	}
	style := figure.Style{Format: figure.Format(strings.TrimPrefix(extension, "."))}
	if err := figure.Draw(w, style, panels...); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// figure is the chart of a panel. What has a band, the random orders, is what
// the other lines are compared with.
func (p *curvePanel) figure(cv *curveSet) *figure.Lines {
	out := &figure.Lines{
		Title: p.metric + ", " + p.aggregate, X: "variants beside the original", Y: cv.statistic + " with " + cv.human, WholeX: true,
	}
	for _, line := range p.lines {
		s := figure.Series{Name: line.name}
		for _, pt := range line.points {
			s.Points = append(s.Points, figure.Point{X: float64(pt.k), Y: pt.value, Low: pt.least, High: pt.most})
			s.Muted = s.Muted || !math.IsNaN(pt.least)
		}
		out.Series = append(out.Series, s)
	}
	return out
}

package figure

import (
	"errors"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a chart of horizontal bars, which leave room for long names, the first
// on top.
type Bars struct {
	Title, Value string // Value labels the axis of values
	Bars         []Bar
}

// Bar is the length of a bar, NaN for none, with the bounds of its interval,
// NaN for none.
type Bar struct {
	Name             string
	Value, Low, High float64
}

func (b *Bars) room(*plot.Plot) (vg.Length, int) { return 0, len(b.Bars) }

func (b *Bars) name(*plot.Plot, theme, draw.Canvas) {}

func (b *Bars) plot(p *plot.Plot, t theme) error {
	n := len(b.Bars)
	if n == 0 {
		return errors.New("a bar chart needs at least one bar")
	}
	p.Title.Text, p.X.Label.Text = label(b.Title), label(b.Value)
	names, values := make([]string, n), make(plotter.Values, n)
	var ends intervals
	for i, bar := range b.Bars {
		at := n - 1 - i // the axis goes up
		names[at] = label(bar.Name)
		if !finite(bar.Value) {
			continue
		}
		values[at] = bar.Value
		if finite(bar.Low, bar.High) {
			ends.add(bar, float64(at))
		}
	}
	p.X.Tick.Marker = plot.TickerFunc(roundTicks)
	p.NominalY(names...)
	chart, err := plotter.NewBarChart(values, min(vg.Points(14), 5*vg.Centimeter/vg.Length(n)))
	if err != nil {
		return err
	}
	chart.Horizontal, chart.Color = true, t.tone(0)
	chart.LineStyle.Width = 0
	p.Add(chart)
	if len(ends.XYs) > 0 {
		whiskers, err := plotter.NewXErrorBars(&ends)
		if err != nil {
			return err
		}
		whiskers.Color = t.ink
		p.Add(whiskers)
	}
	// The ends of whiskers keep off the names, and off the edge.
	if margin := (p.X.Max - p.X.Min) / 20; finite(margin) {
		if p.X.Min < 0 {
			p.X.Min -= margin
		}
		if p.X.Max > 0 {
			p.X.Max += margin
		}
	}
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	return nil
}

// intervals are the ends of bars, in the form that the library takes.
type intervals struct {
	plotter.XYs
	plotter.XErrors
}

func (e *intervals) add(b Bar, at float64) {
	e.XYs = append(e.XYs, plotter.XY{X: b.Value, Y: at})
	e.XErrors = append(e.XErrors, struct{ Low, High float64 }{b.Value - b.Low, b.High - b.Value})
}

package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/refract-eval/refract/internal/figure"
	"github.com/refract-eval/refract/internal/report"
)

// newForestView draws a dot and an interval for every setting and view, and repeats the
// numbers in a table. Worse settings have another colour; what decides nothing is grey.
func newForestView(f *report.Forest, number int) *figureView {
	const digits = 3
	id := fmt.Sprintf("forest-%d", number)
	t := &report.NamedTable{Name: id, Title: f.Title, Notes: f.Notes, Columns: []report.Column{
		{Name: "setting"}, {Name: "grouping"}, {Name: "value", Header: f.Value, Kind: report.KindFloat, Digits: digits},
		{Name: "difference", Kind: report.KindFloat, Digits: digits},
		{Name: "interval", Header: fmt.Sprintf("%.4g%% interval", 100*f.Level), Kind: report.KindInterval, Digits: digits}, {Name: "p", Kind: report.KindFloat, Digits: digits},
	}}
	t.Columns[1].Hide = len(f.Views) < 2
	dots := &figure.Bars{Value: f.Unit, Dots: true}
	for _, g := range f.Groups {
		t.Note("%s with %s", g.Name, g.Against)
		for _, r := range g.Rows {
			named := false
			for i, e := range r.Effects {
				name := strings.TrimSpace(g.Name + " " + r.Name)
				t.Add(name, f.Views[i], e.Value, e.Difference, e.Range, e.P)
				if e.Range != nil {
					switch {
					case named: // the picture names a setting once
						name = f.Views[i]
					case len(f.Views) > 1:
						name += ", " + f.Views[i]
					}
					named = true
					dots.Bars = append(dots.Bars, figure.Bar{Name: name, Value: float64(e.Difference), Low: float64(e.Range.Low), High: float64(e.Range.High),
						Muted: e.Outcome != report.Better && e.Outcome != report.Worse, Worse: e.Outcome == report.Worse})
				}
			}
		}
	}
	out := &Figure{ID: id, Title: f.Title, Alt: "Forest plot: " + f.Unit + ", with intervals; the numbers are in the table below.", Data: t}
	if len(dots.Bars) > 0 {
		out.Notes = []string{"Blue is significantly better, orange significantly worse, grey neither."}
		out.Draw(dots)
	}
	return newFigureView(out)
}

// Draw draws panels as the picture, for a light and a dark background.
func (f *Figure) Draw(panels ...figure.Panel) {
	var light, dark bytes.Buffer // which take all
	_ = figure.Draw(&light, figure.Style{Clear: true}, panels...)
	_ = figure.Draw(&dark, figure.Style{Dark: true, Clear: true}, panels...)
	f.SVG, f.Dark = light.Bytes(), dark.Bytes()
}

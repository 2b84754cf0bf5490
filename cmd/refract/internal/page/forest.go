package page

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// newForestView draws a dot and an interval for every setting and view, and repeats the
// numbers in a table. Worse settings have another colour; what decides nothing is grey.
func newForestView(f *Forest, number int) *figureView {
	const digits = 3
	id := fmt.Sprintf("forest-%d", number)
	t := &report.NamedTable{Name: id, Title: f.Title, Notes: f.Notes, Columns: []report.Column{
		{Name: "setting"}, {Name: "grouping"}, {Name: "value", Header: f.Value, Kind: report.KindFloat, Digits: digits},
		{Name: "difference", Kind: report.KindFloat, Digits: digits},
		{Name: "interval", Header: fmt.Sprintf("%.4g%% interval", 100*f.Level), Kind: report.KindInterval, Digits: digits}, {Name: "p", Kind: report.KindFloat, Digits: digits},
	}}
	t.Columns[1].Hide = !slices.ContainsFunc(f.Rows, func(r ForestRow) bool { return r.Grouping != "" })
	dots := &figure.Bars{Value: f.Unit, Dots: true}
	drawn := ""
	for _, r := range f.Rows {
		t.Add(r.Setting, r.Grouping, r.Value, r.Difference, r.Range, r.P)
		if r.Range == nil {
			continue
		}
		name := r.Grouping // the picture names a setting once
		if r.Setting != drawn {
			name, drawn = strings.TrimSuffix(r.Setting+", "+r.Grouping, ", "), r.Setting
		}
		dots.Bars = append(dots.Bars, figure.Bar{Name: name, Value: float64(r.Difference), Low: float64(r.Range.Low), High: float64(r.Range.High),
			Muted: r.Outcome != Better && r.Outcome != Worse, Worse: r.Outcome == Worse})
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

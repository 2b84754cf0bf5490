package experiment

import (
	"fmt"
	"io"
	"slices"

	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// Figure is a picture of a result.
type Figure struct {
	Name   string // for a file, such as "curve-1"
	Title  string
	Alt    string // what it shows, in words
	Panels []figure.Panel
}

// Figures returns the pictures of a result: the curves, the differences, and
// what prompts add.
func (r *Result) Figures() []Figure {
	out := r.curveFigures()
	out = append(out, r.differenceFigures()...)
	return append(out, r.promptFigures()...)
}

// groupsOf parts items by their key, in the order in which the keys appear. It
// leaves out the items that take says false of.
func groupsOf[T any, K comparable](items []T, take func(*T) (K, bool)) [][]*T {
	var out [][]*T
	index := map[K]int{}
	for i := range items {
		k, ok := take(&items[i])
		if !ok {
			continue
		}
		at, known := index[k]
		if !known {
			at, out = len(out), append(out, nil)
			index[k] = at
		}
		out[at] = append(out[at], &items[i])
	}
	return out
}

// part is a statistic of a dataset: what a figure shows.
type part struct{ dataset, statistic string }

// part is that of a number.
func (a *About) part() part { return part{a.Dataset, a.Statistic} }

// curveFigures has a figure per dataset and statistic, a panel per setting and
// a line per way to choose.
func (r *Result) curveFigures() []Figure {
	var out []Figure
	for n, all := range groupsOf(r.Curves, func(c *CurveResult) (part, bool) { return c.part(), true }) {
		of := all[0].About
		f := Figure{
			Name: fmt.Sprintf("curve-%d", n+1), Title: fmt.Sprintf("%s by the number of references, %s", of.Statistic, of.Dataset),
			Alt: fmt.Sprintf("Line chart of %s with human scores on %s against the number of references, a panel per metric and aggregator.", of.Statistic, of.Dataset),
		}
		for _, lines := range bySetting(all) {
			f.Panels = append(f.Panels, CurvePanel(lines, "references", func(p *Point) int { return p.References }))
		}
		out = append(out, f)
	}
	return out
}

// CurvesBySetting parts the curves by metric and aggregator.
func (r *Result) CurvesBySetting() [][]*CurveResult {
	all := make([]*CurveResult, len(r.Curves))
	for i := range all {
		all[i] = &r.Curves[i]
	}
	return bySetting(all)
}

func bySetting(curves []*CurveResult) [][]*CurveResult {
	var out [][]*CurveResult
	for _, lines := range groupsOf(curves, func(c **CurveResult) ([2]string, bool) { return [2]string{(*c).Metric, (*c).Aggregator}, true }) {
		of := make([]*CurveResult, len(lines))
		for i := range of {
			of[i] = *lines[i]
		}
		out = append(out, of)
	}
	return out
}

// CurvePanel draws the curves of one setting, a line per way to choose, against
// what x gives. It shows one kind of band: from the least to the largest of
// random orders where there are some, and else intervals.
func CurvePanel(lines []*CurveResult, label string, x func(*Point) int) *figure.Lines {
	c := lines[0]
	out := &figure.Lines{Title: c.Metric + ", " + c.Aggregator, X: label, Y: c.Statistic + " with " + c.Human, WholeX: true}
	bands := slices.ContainsFunc(lines, func(c *CurveResult) bool { return c.Seeds > 1 })
	for _, c := range lines {
		s := figure.Series{Name: c.By, Muted: c.Seeds > 1}
		if c.Over != "" {
			s.Name += ", " + c.Over
		}
		for i := range c.Points {
			p := &c.Points[i]
			at := figure.Point{X: float64(x(p)), Y: float64(p.Value), Low: float64(p.Least), High: float64(p.Largest)}
			if !bands && p.Interval != nil {
				at.Low, at.High = float64(p.Interval.Low), float64(p.Interval.High)
			}
			s.Points = append(s.Points, at)
		}
		out.Series = append(out.Series, s)
	}
	return out
}

// bar is a value with its interval.
func bar(name string, v Number, iv *report.Range) figure.Bar {
	b := figure.Bar{Name: name, Value: float64(v), Low: float64(report.None()), High: float64(report.None())}
	if iv != nil {
		b.Low, b.High = float64(iv.Low), float64(iv.High)
	}
	return b
}

// differenceFigures has a figure per dataset and statistic.
func (r *Result) differenceFigures() []Figure {
	var out []Figure
	for n, all := range groupsOf(r.Differences, func(d *Difference) (part, bool) { return d.part(), d.Value.Defined() }) {
		of := all[0].About
		b := &figure.Bars{Title: of.Dataset, Value: "difference in " + of.Statistic}
		for _, d := range all {
			b.Bars = append(b.Bars, bar(d.A.String()+" – "+d.B.String(), d.Value, d.Interval))
		}
		out = append(out, Figure{
			Name: fmt.Sprintf("differences-%d", n+1), Title: fmt.Sprintf("Differences in %s, %s", of.Statistic, of.Dataset), Panels: []figure.Panel{b},
			Alt: fmt.Sprintf("Bar chart of differences between settings in %s on %s, with intervals.", of.Statistic, of.Dataset),
		})
	}
	return out
}

// promptFigures has a figure per dataset and statistic, a panel per metric:
// what leaving out a prompt costs.
func (r *Result) promptFigures() []Figure {
	var out []Figure
	for n, all := range groupsOf(r.Prompts, func(p *PromptAnalysis) (part, bool) { return p.part(), true }) {
		of := all[0].About
		f := Figure{
			Name: fmt.Sprintf("prompts-%d", n+1), Title: fmt.Sprintf("What each prompt adds in %s, %s", of.Statistic, of.Dataset),
			Alt: fmt.Sprintf("Bar chart of what leaving out each prompt costs in %s on %s, with intervals, a panel per metric.", of.Statistic, of.Dataset),
		}
		for _, p := range all {
			b := &figure.Bars{Title: p.Metric + ", " + p.Aggregator, Value: "what it adds to all others"}
			for _, e := range p.Prompts {
				b.Bars = append(b.Bars, bar(e.Prompt, e.Effect, e.EffectInterval))
			}
			f.Panels = append(f.Panels, b)
		}
		out = append(out, f)
	}
	return out
}

// DrawFigures draws figures as files of their own, in each of the formats. write
// writes a file.
func DrawFigures(write func(name string, draw func(io.Writer) error) error, figures []Figure, formats ...figure.Format) error {
	for _, f := range figures {
		for _, format := range formats {
			err := write(f.Name+"."+string(format), func(w io.Writer) error {
				return figure.Draw(w, figure.Style{Format: format}, f.Panels...)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

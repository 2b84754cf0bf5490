package experiment

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// FigureKind is what a figure shows.
type FigureKind uint8

// The kinds.
const (
	CurveFigure FigureKind = iota
	DifferenceFigure
	PromptFigure
	SizeFigure
	PairFigure
)

// Figure is a picture of a result.
type Figure struct {
	Kind      FigureKind
	Name      string // for a file, such as "curve-1"
	Title     string
	Statistic string   // label; "" for none
	Alt       string   // what it shows, in words
	Findings  []string // what is to be seen in it
	Data      *report.NamedTable
	Panels    []figure.Panel
}

// Figures returns the pictures of a result: the curves, the differences, what
// prompts add, statistics by the number of segments, and pairs of systems.
func (r *Result) Figures() []Figure {
	return slices.Concat(r.curveFigures(), r.differenceFigures(), r.promptFigures(), r.sizeFigures(), r.pairFigures())
}

// groupsOf parts items by their key, in the order in which the keys appear. It
// leaves out the items that take says false of.
func groupsOf[T any, K comparable](items []T, take func(T) (K, bool)) [][]T {
	var out [][]T
	index := map[K]int{}
	for _, item := range items {
		k, ok := take(item)
		if !ok {
			continue
		}
		at, known := index[k]
		if !known {
			at, out = len(out), append(out, nil)
			index[k] = at
		}
		out[at] = append(out[at], item)
	}
	return out
}

// part is a statistic of a dataset: what a figure shows.
type part struct{ dataset, statistic string }

// part is that of a number.
func (a *About) part() part { return part{a.Dataset, a.Statistic} }

// lineFigures has a figure per dataset, statistic and metric of some numbers, by the
// number of what x names. Those of a dataset and statistic share the axis. draw gives
// the lines, and what else the figure has; its Alt says what a line is.
func lineFigures[T any](r *Result, all []T, of func(*T) (about *About, metric string), name, x string, draw func([]*T, *Figure) *figure.Lines) []Figure {
	var out []Figure
	for _, group := range groupsOf(pointers(all), func(t *T) (part, bool) { about, _ := of(t); return about.part(), true }) {
		var panels []*figure.Lines
		for _, lines := range groupsOf(group, func(t *T) (string, bool) { _, metric := of(t); return metric, true }) {
			about, metric := of(lines[0])
			f := Figure{Name: fmt.Sprintf("%s-%d", name, len(out)+1), Statistic: about.Statistic}
			f.Title = fmt.Sprintf("%s: %s by the number of %s", report.Display(metric), report.Display(about.Statistic), x)
			if len(r.Datasets) > 1 {
				f.Title += ", " + about.Dataset
			}
			panel := draw(lines, &f)
			panel.X, panel.Y, panel.WholeX = x, report.Display(about.Statistic), true
			panels, f.Panels = append(panels, panel), []figure.Panel{panel}
			f.Data.Name, f.Data.Title = f.Name, f.Title
			f.Alt = "Line chart of " + f.Title + ", a line per " + f.Alt + "."
			out = append(out, f)
		}
		figure.ShareY(panels...)
	}
	return out
}

// curveFigures has a line per aggregator and way to choose.
func (r *Result) curveFigures() []Figure {
	of := func(c *CurveResult) (*About, string) { return &c.About, c.Metric }
	return lineFigures(r, r.Curves, of, "curve", "references", func(lines []*CurveResult, f *Figure) *figure.Lines {
		panel := CurvePanel(lines, "", func(p *Point) int { return p.References })
		if panel.Title = ""; len(lines) == 1 {
			panel.Series[0].Name = lines[0].Aggregator
		}
		f.Data, f.Alt = r.curveTable(lines...), "aggregator"
		for _, line := range lines {
			if text := line.says(lines); text != "" {
				f.Findings = append(f.Findings, text)
			}
		}
		return panel
	})
}

// practically is how far off all references a number of them may be, at most,
// that is said to be enough.
const practically = 0.01

// says is how many references are enough, with the name of the line among
// others; "" where the curve does not tell.
func (c *CurveResult) says(lines []*CurveResult) string {
	v, ok := c.Verdict(false)
	if !ok {
		return ""
	}
	_, text, _ := strings.Cut(v.Text, ": ")
	if at := slices.IndexFunc(c.Points, func(p Point) bool { return p.References >= c.Enough }); at > 0 && v.Outcome == report.Neutral && c.Enough < c.Most {
		p := &c.Points[at]
		text = fmt.Sprintf("no significant gain beyond %d of %d: %s against all", c.Enough, c.Most, change(p.ToAll, p.ToAllRange))
		if p.ToAllRange.Low >= -practically {
			text = fmt.Sprintf("%d of %d are enough: %s against all", c.Enough, c.Most, change(p.ToAll, p.ToAllRange))
		}
	}
	if len(lines) > 1 {
		text = c.line(lines) + ": " + text
	}
	return text
}

// line is what tells a curve apart from others.
func (c *CurveResult) line(lines []*CurveResult) string {
	differ := func(of func(*CurveResult) string) bool {
		return slices.ContainsFunc(lines, func(l *CurveResult) bool { return of(l) != of(c) })
	}
	aggregators := differ(func(l *CurveResult) string { return l.Aggregator })
	var names []string
	if aggregators {
		names = append(names, c.Aggregator)
	}
	if !aggregators || differ(func(l *CurveResult) string { return l.By + l.Over }) {
		names = append(names, c.By)
		if c.Over != "" {
			names = append(names, c.Over)
		}
	}
	return strings.Join(names, ", ")
}

// CurvesBySetting parts the curves by metric and aggregator.
func (r *Result) CurvesBySetting() [][]*CurveResult {
	return bySetting(pointers(r.Curves))
}

func bySetting(curves []*CurveResult) [][]*CurveResult {
	return groupsOf(curves, func(c *CurveResult) ([2]string, bool) { return [2]string{c.Metric, c.Aggregator}, true })
}

// CurvePanel draws the curves of one setting, a line per way to choose, against
// what x gives. It shows one kind of band: from the least to the largest of
// random orders where there are some, and else intervals.
func CurvePanel(lines []*CurveResult, label string, x func(*Point) int) *figure.Lines {
	c := lines[0]
	out := &figure.Lines{Title: c.Metric + ", " + c.Aggregator, X: label, Y: c.Statistic + " with " + c.Human, WholeX: true}
	bands := slices.ContainsFunc(lines, func(c *CurveResult) bool { return c.Seeds > 1 })
	apart := slices.ContainsFunc(lines, func(l *CurveResult) bool { return l.Aggregator != c.Aggregator })
	for _, c := range lines {
		s := figure.Series{Name: c.line(lines), Muted: c.Seeds > 1 && !apart}
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
	for n, all := range groupsOf(pointers(r.Differences), func(d *Difference) (part, bool) { return d.part(), d.Value.Defined() }) {
		of := all[0].About
		b := &figure.Bars{Title: of.Dataset, Value: "difference in " + of.Statistic}
		for _, d := range all {
			b.Bars = append(b.Bars, bar(d.A.String()+" – "+d.B.String(), d.Value, d.Interval))
		}
		out = append(out, Figure{
			Kind: DifferenceFigure, Name: fmt.Sprintf("differences-%d", n+1), Title: fmt.Sprintf("Differences in %s, %s", of.Statistic, of.Dataset), Panels: []figure.Panel{b},
			Alt: fmt.Sprintf("Bar chart of differences between settings in %s on %s, with intervals.", of.Statistic, of.Dataset),
		})
	}
	return out
}

// promptFigures has a figure per dataset, statistic and metric: what leaving out
// a prompt costs.
func (r *Result) promptFigures() []Figure {
	var out []Figure
	for i := range r.Prompts {
		p := &r.Prompts[i]
		b := &figure.Bars{Value: "added " + report.Display(p.Statistic)}
		for _, e := range p.Prompts {
			b.Bars = append(b.Bars, bar(e.Prompt, e.Effect, e.EffectInterval))
		}
		f := Figure{Kind: PromptFigure, Statistic: p.Statistic, Name: fmt.Sprintf("prompts-%d", i+1), Panels: []figure.Panel{b}, Data: r.promptTable(p)}
		f.Title = fmt.Sprintf("%s, %s: what each prompt adds to all others", report.Display(p.Metric), p.Aggregator)
		if len(r.Datasets) > 1 {
			f.Title += ", " + p.Dataset
		}
		if len(r.Statistics) > 1 {
			f.Title += ", " + report.Display(p.Statistic)
		}
		f.Data.Name, f.Data.Title = f.Name, f.Title
		f.Alt = "Bar chart of " + f.Title + ", with intervals."
		if _, text, ok := strings.Cut(p.verdict(false).Text, ": "); ok {
			f.Findings = []string{text}
		}
		out = append(out, f)
	}
	return out
}

// DrawFigures draws each figure as an SVG file, which write writes.
func DrawFigures(write func(name string, draw func(io.Writer) error) error, figures []Figure) error {
	for _, f := range figures {
		err := write(f.Name+".svg", func(w io.Writer) error { return figure.Draw(w, figure.Style{}, f.Panels...) })
		if err != nil {
			return err
		}
	}
	return nil
}

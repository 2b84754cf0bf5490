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

// curveFigures has a figure per dataset, statistic and metric, with a line per
// aggregator and way to choose. Those of a dataset and statistic share the axis.
func (r *Result) curveFigures() []Figure {
	var out []Figure
	for _, all := range groupsOf(pointers(r.Curves), func(c *CurveResult) (part, bool) { return c.part(), true }) {
		var panels []*figure.Lines
		for _, lines := range groupsOf(all, func(c *CurveResult) (string, bool) { return c.Metric, true }) {
			c := lines[0]
			panel := CurvePanel(lines, "references", func(p *Point) int { return p.References })
			panel.Title, panel.Y = "", report.Display(c.Statistic)
			if len(lines) == 1 {
				panel.Series[0].Name = c.Aggregator
			}
			panels = append(panels, panel)
			f := Figure{Name: fmt.Sprintf("curve-%d", len(out)+1), Statistic: c.Statistic, Panels: []figure.Panel{panel}, Data: r.curveTable(lines...)}
			f.Title = fmt.Sprintf("%s: %s by the number of references", report.Display(c.Metric), report.Display(c.Statistic))
			if len(r.Datasets) > 1 {
				f.Title += ", " + c.Dataset
			}
			f.Data.Name, f.Data.Title = f.Name, f.Title
			f.Alt = "Line chart of " + f.Title + ", a line per aggregator."
			for _, line := range lines {
				if text := line.says(lines); text != "" {
					f.Findings = append(f.Findings, text)
				}
			}
			out = append(out, f)
		}
		figure.ShareY(panels...)
	}
	return out
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

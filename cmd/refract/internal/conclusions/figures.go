package conclusions

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// Figures returns the pictures of a result: people next to settings, the curves, and what prompts
// add.
func (r *Result) Figures() []page.Figure {
	return slices.Concat(r.peopleFigures(), r.curveFigures(), r.promptFigures())
}

// figure begins the next figure of a kind, which stands aside unless it is of the leading statistic.
func (r *Result) figure(kind string, before int, statistic string) page.Figure {
	return page.Figure{ID: fmt.Sprintf("%s-%d", kind, before+1), Aside: statistic != r.Statistics[0]}
}

// peopleFigures has a figure per dataset and statistic: how well people agree with the mean of the
// other raters, and settings with the same means.
func (r *Result) peopleFigures() []page.Figure {
	var out []page.Figure
	for _, p := range r.People {
		f := r.figure("people", len(out), p.Statistic)
		f.Title = fmt.Sprintf("Raters and metrics against the mean of the other raters: %s%s", report.Display(p.Statistic), onDataset(p.Dataset, len(r.Datasets) > 1))
		f.Alt = "Dot chart of " + f.Title + ", with intervals."
		f.Data = &report.NamedTable{Name: f.ID, Title: f.Title, Columns: columns(report.Column{Name: "setting"}, value("value", 3), interval("ci"), value("above_people", 3), interval("above_people_ci"))}
		f.Data.Note("%s", experiment.Ceiling)
		b := &figure.Bars{Value: report.Display(p.Statistic), Dots: true, Bars: []figure.Bar{bar("people", p.Value, p.Interval)}}
		f.Data.Add("people", p.Value, p.Interval, nil, nil)
		for i := range r.Rows {
			if row := &r.Rows[i]; row.About == p.About && row.People != nil {
				one := bar(report.Display(row.Setting.String()), row.People.Value, row.People.Interval)
				one.Muted = true
				b.Bars = append(b.Bars, one)
				f.Data.Add(one.Name, row.People.Value, row.People.Interval, row.People.Above, row.People.AboveInterval)
			}
		}
		f.Panels = []figure.Panel{b}
		out = append(out, f)
	}
	return out
}

// groupsOf groups items by key, in the order in which the keys appear. It drops the items
// for which take returns false.
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

// curveFigures has a figure per dataset, statistic and metric, with a line per aggregator
// and method of choice. Those of a dataset and statistic share the axis.
func (r *Result) curveFigures() []page.Figure {
	var out []page.Figure
	for _, group := range groupsOf(pointers(r.Curves), func(c *experiment.CurveResult) (experiment.About, bool) { return c.About, true }) {
		var panels []*figure.Lines
		for _, lines := range groupsOf(group, func(c *experiment.CurveResult) (string, bool) { return c.Metric, true }) {
			c := lines[0]
			f := r.figure("curve", len(out), c.Statistic)
			f.Title = fmt.Sprintf("%s by the number of references: %s%s", report.Display(c.Metric), report.Display(c.Statistic), onDataset(c.Dataset, len(r.Datasets) > 1))
			f.Data = r.curveTable(lines...)
			f.Data.Name, f.Data.Title = f.ID, f.Title
			f.Alt = "Line chart of " + f.Title + ", a line per aggregator."
			panel := curvePanel(lines)
			panels, f.Panels = append(panels, panel), []figure.Panel{panel}
			for _, line := range lines {
				if line.Enough > 0 && len(line.Points) > 1 {
					_, text, _ := strings.Cut(curveVerdict(line, false).Text, ": ")
					f.Findings = append(f.Findings, lineName(line, lines)+": "+text)
				}
			}
			out = append(out, f)
		}
		figure.ShareY(panels...)
	}
	return out
}

// line names a curve by what distinguishes it from others.
func lineName(c *experiment.CurveResult, lines []*experiment.CurveResult) string {
	differ := func(of func(*experiment.CurveResult) string) bool {
		return slices.ContainsFunc(lines, func(l *experiment.CurveResult) bool { return of(l) != of(c) })
	}
	switch by := func(l *experiment.CurveResult) string { return l.By }; {
	case !differ(by):
		return c.Aggregator
	case !differ(func(l *experiment.CurveResult) string { return l.Aggregator }):
		return c.By
	}
	return c.Aggregator + ", " + c.By
}

// curvePanel draws the curves of one metric. It shows one kind of band: from the smallest
// to the largest value of random orders if there are any, and otherwise intervals.
func curvePanel(lines []*experiment.CurveResult) *figure.Lines {
	out := &figure.Lines{X: "references", Y: report.Display(lines[0].Statistic)}
	bands := slices.ContainsFunc(lines, func(c *experiment.CurveResult) bool { return c.Seeds > 1 })
	for _, c := range lines {
		s := figure.Series{Name: lineName(c, lines), Muted: c.Seeds > 1}
		for i := range c.Points {
			p := &c.Points[i]
			at := figure.Point{X: float64(p.References), Y: float64(p.Value), Low: float64(p.Least), High: float64(p.Largest)}
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
func bar(name string, v experiment.Number, iv *experiment.Range) figure.Bar {
	b := figure.Bar{Name: name, Value: float64(v), Low: float64(experiment.None()), High: float64(experiment.None())}
	if iv != nil {
		b.Low, b.High = float64(iv.Low), float64(iv.High)
	}
	return b
}

// promptFigures has a figure per dataset, statistic and metric: the loss from leaving out
// each prompt.
func (r *Result) promptFigures() []page.Figure {
	var out []page.Figure
	for i := range r.Prompts {
		p := &r.Prompts[i]
		b := &figure.Bars{Value: "added " + report.Display(p.Statistic)}
		for _, e := range p.Prompts {
			b.Bars = append(b.Bars, bar(e.Prompt, e.Effect, e.EffectInterval))
		}
		f := r.figure("prompts", i, p.Statistic)
		f.Panels, f.Data = []figure.Panel{b}, r.promptTable(p)
		f.Title = fmt.Sprintf("%s, %s: what each prompt adds to all others%s", report.Display(p.Metric), p.Aggregator, onDataset(p.Dataset, len(r.Datasets) > 1))
		if len(r.Statistics) > 1 {
			f.Title += ", " + report.Display(p.Statistic)
		}
		f.Data.Name, f.Data.Title = f.ID, f.Title
		f.Alt = "Bar chart of " + f.Title + ", with intervals."
		if _, text, ok := strings.Cut(promptVerdict(p, false).Text, ": "); ok {
			f.Findings = []string{text}
		}
		out = append(out, f)
	}
	return out
}

// DrawFigures draws each figure as an SVG file and passes it to write.
func DrawFigures(write func(name string, draw func(io.Writer) error) error, figures []page.Figure) error {
	for _, f := range figures {
		err := write(f.ID+".svg", func(w io.Writer) error { return figure.Draw(w, figure.Style{}, f.Panels...) })
		if err != nil {
			return err
		}
	}
	return nil
}

package experiment

import (
	"fmt"

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

// curveFigures has a figure per dataset and statistic, a panel per setting and
// a line per way to choose.
func (r *Result) curveFigures() []Figure {
	type key struct{ dataset, statistic string }
	var order []key
	groups := map[key][]*CurveResult{}
	for i := range r.Curves {
		k := key{r.Curves[i].Dataset, r.Curves[i].Statistic}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], &r.Curves[i])
	}
	var out []Figure
	for n, k := range order {
		f := Figure{
			Name: fmt.Sprintf("curve-%d", n+1), Title: fmt.Sprintf("%s by the number of references, %s", k.statistic, k.dataset),
			Alt: fmt.Sprintf("Line chart of %s with human scores on %s against the number of references, a panel per metric and aggregator.", k.statistic, k.dataset),
		}
		panels := map[SettingName]*figure.Lines{}
		for _, c := range groups[k] {
			name := SettingName{Metric: c.Metric, Aggregator: c.Aggregator}
			p := panels[name]
			if p == nil {
				p = &figure.Lines{Title: c.Metric + ", " + c.Aggregator, X: "references", Y: k.statistic + " with " + c.Human, WholeX: true}
				panels[name] = p
				f.Panels = append(f.Panels, p)
			}
			s := figure.Series{Name: c.By, Muted: c.Seeds > 1}
			for _, pt := range c.Points {
				at := figure.At(float64(pt.References), float64(pt.Value))
				switch {
				case pt.Least.Defined():
					at.Low, at.High = float64(pt.Least), float64(pt.Largest)
				case pt.Interval != nil:
					at.Low, at.High = float64(pt.Interval.Low), float64(pt.Interval.High)
				}
				s.Points = append(s.Points, at)
			}
			p.Series = append(p.Series, s)
		}
		out = append(out, f)
	}
	return out
}

// bar is a value with its interval.
func bar(v Number, iv *report.Range) figure.Bar {
	b := figure.Bar{Value: float64(v), Low: float64(report.None()), High: float64(report.None())}
	if iv != nil {
		b.Low, b.High = float64(iv.Low), float64(iv.High)
	}
	return b
}

// differenceFigures has a figure per dataset and statistic.
func (r *Result) differenceFigures() []Figure {
	var out []Figure
	index := map[[2]string]int{}
	for i := range r.Differences {
		d := &r.Differences[i]
		if !d.Value.Defined() {
			continue
		}
		k := [2]string{d.Dataset, d.Statistic}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, Figure{
				Name: fmt.Sprintf("differences-%d", at+1), Title: fmt.Sprintf("Differences in %s, %s", d.Statistic, d.Dataset),
				Alt:    fmt.Sprintf("Bar chart of differences between settings in %s on %s, with intervals.", d.Statistic, d.Dataset),
				Panels: []figure.Panel{&figure.Bars{Title: d.Dataset, Value: "difference in " + d.Statistic, Series: []figure.BarSeries{{}}}},
			})
		}
		b := out[at].Panels[0].(*figure.Bars)
		b.Names = append(b.Names, d.A.String()+" – "+d.B.String())
		b.Series[0].Bars = append(b.Series[0].Bars, bar(d.Value, d.Interval))
	}
	return out
}

// promptFigures has a figure per dataset and statistic, a panel per metric:
// what leaving out a prompt costs.
func (r *Result) promptFigures() []Figure {
	var out []Figure
	index := map[[2]string]int{}
	for i := range r.Prompts {
		p := &r.Prompts[i]
		k := [2]string{p.Dataset, p.Statistic}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, Figure{
				Name: fmt.Sprintf("prompts-%d", at+1), Title: fmt.Sprintf("What each prompt adds in %s, %s", p.Statistic, p.Dataset),
				Alt: fmt.Sprintf("Bar chart of what leaving out each prompt costs in %s on %s, with intervals, a panel per metric.", p.Statistic, p.Dataset),
			})
		}
		b := &figure.Bars{Title: p.Metric + ", " + p.Aggregator, Value: "what it adds to all others", Series: []figure.BarSeries{{}}}
		for _, e := range p.Prompts {
			b.Names = append(b.Names, e.Prompt)
			b.Series[0].Bars = append(b.Series[0].Bars, bar(e.Effect, e.EffectInterval))
		}
		out[at].Panels = append(out[at].Panels, b)
	}
	return out
}

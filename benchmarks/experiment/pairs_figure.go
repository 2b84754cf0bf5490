package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// pairFigures has a figure per dataset and metric: the difference between two
// systems by the metric beside that by people, for each pair.
func (r *Result) pairFigures() []Figure {
	var out []Figure
	for i := range r.Rankings {
		k := &r.Rankings[i]
		for _, under := range k.byMetric() {
			f, ok := k.pairFigure(under, len(r.Datasets) > 1)
			if !ok {
				continue
			}
			f.Name = fmt.Sprintf("pairs-%d", len(out)+1)
			f.Data.Name = f.Name
			out = append(out, f)
		}
	}
	return out
}

// byMetric parts the indices of the settings by their metric.
func (k *Ranking) byMetric() [][]int {
	at := make([]int, len(k.Settings))
	for i := range at {
		at[i] = i
	}
	return groupsOf(at, func(i int) (string, bool) { return k.Settings[i].Metric, true })
}

// pairs are all pairs of systems under one setting.
type pairs struct {
	setting int
	points  []figure.Point // not finite for a pair without a score
	n       int            // with all scores
	agree   int            // of them, ordered as by people, by the rule of correlate.PairwiseAccuracy
	lower   bool           // the lower score is the better one
}

// pairs sets each system less each that people place behind it.
func (k *Ranking) pairs(setting int) pairs {
	out := pairs{setting: setting}
	for i, a := range k.Systems {
		for _, b := range k.Systems[i+1:] {
			p, q := a.Under[setting], b.Under[setting]
			out.points = append(out.points, figure.Point{X: float64(a.First.Score - b.First.Score), Y: float64(p.Score - q.Score), Low: float64(report.None()), High: float64(report.None())})
			if min(a.First.Rank, b.First.Rank, p.Rank, q.Rank) == 0 {
				continue
			}
			out.n++
			if a.First.Before(b.First) == p.Before(q) {
				out.agree++
			}
			out.lower = out.lower || p.Score != q.Score && p.Before(q) == cmp.Compare(p.Score, q.Score)
		}
	}
	return out
}

// pairFigure shows the single reference and, of the other settings of its metric,
// the one that orders most pairs as people do; false where there is no pair.
func (k *Ranking) pairFigure(under []int, several bool) (Figure, bool) {
	base := max(0, slices.IndexFunc(under, func(i int) bool { return k.Settings[i].Aggregator == "single" }))
	shown := []pairs{k.pairs(under[base])}
	if others := slices.Delete(slices.Clone(under), base, base+1); len(others) > 0 {
		all := make([]pairs, len(others))
		for i, setting := range others {
			all[i] = k.pairs(setting)
		}
		shown = append(shown, slices.MaxFunc(all, func(a, b pairs) int { return cmp.Compare(a.agree, b.agree) }))
	}
	shown = slices.DeleteFunc(shown, func(p pairs) bool { return p.n == 0 })
	if len(shown) == 0 {
		return Figure{}, false
	}
	first := &shown[0]
	metric, better := report.Display(k.Settings[first.setting].Metric), "higher"
	if first.lower {
		better = "lower"
	}
	panel := &figure.Scatter{X: "difference in " + report.Display(k.Human) + ", by people", Y: fmt.Sprintf("difference in %s (%s is better)", metric, better), Opposite: first.lower}
	f := Figure{Kind: PairFigure, Title: metric + ": pairs of systems by metric and by people", Panels: []figure.Panel{panel}}
	if several {
		f.Title += ", " + k.Dataset
	}
	f.Alt = fmt.Sprintf("Scatter plot of %s. A dot is a pair of systems: the one that people place first less the other; where the area is shaded, the metric orders them as people do.", f.Title)
	f.Data = &report.NamedTable{Title: f.Title, Columns: []report.Column{{Name: "system"}, {Name: "other"}, {Name: "human", Header: k.Human, Kind: report.KindFloat, Digits: 6}},
		Notes: []string{"difference of the means over the judged segments, the system that people place first less the other"}}
	for i := range shown {
		p := &shown[i]
		setting := k.Settings[p.setting]
		name := strings.TrimPrefix(k.Names[p.setting], setting.Metric+", ")
		f.Findings = append(f.Findings, fmt.Sprintf("%s: %d of %d pairs are ordered as by people", name, p.agree, p.n))
		series := figure.Series{Name: fmt.Sprintf("%d of %d as by people", p.agree, p.n), Points: p.points, Muted: len(shown) > 1 && i == 0}
		setting.Metric = ""
		if short := setting.String(); short != "" { // there is little room
			series.Name = short + ": " + series.Name
		}
		panel.Series = append(panel.Series, series)
		f.Data.Columns = append(f.Data.Columns, report.Column{Name: fmt.Sprint("score", i), Header: name, Kind: report.KindFloat, Digits: 6})
	}
	if len(under) > 2 && len(shown) > 1 {
		f.Findings[1] += fmt.Sprintf(", most of the %d other settings", len(under)-1)
	}
	at := 0
	for i, a := range k.Systems {
		for _, b := range k.Systems[i+1:] {
			row := []any{a.Name, b.Name, Number(first.points[at].X)}
			for _, p := range shown {
				row = append(row, Number(p.points[at].Y))
			}
			f.Data.Add(row...)
			at++
		}
	}
	return f, true
}

package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// measured tells the differences that stand side by side: those of one
// statistic, whatever its grouping.
type measured struct{ dataset, statistic string }

// measured is that of a number.
func (a *About) measured() measured {
	return measured{a.Dataset, strings.Replace(a.Statistic, " by "+a.Group, "", 1)}
}

// first is the statistic that leads: the first one that has a difference, whatever its
// grouping; "" for none.
func (r *Result) first() string {
	for _, label := range r.Statistics {
		at := slices.IndexFunc(r.Differences, func(d Difference) bool { return d.Statistic == label && d.Value.Defined() })
		if at >= 0 {
			return r.Differences[at].measured().statistic
		}
	}
	return ""
}

// leading is the differences of the first statistic that has any, by dataset.
func (r *Result) leading() [][]*Difference {
	first := r.first()
	return groupsOf(pointers(r.Differences), func(d *Difference) (measured, bool) {
		return d.measured(), d.Value.Defined() && d.measured().statistic == first
	})
}

// Leads says whether a difference stands in a forest of the result.
func (r *Result) Leads(d *Difference) bool {
	return d.Value.Defined() && d.measured().statistic == r.first()
}

// views parts differences by their grouping, in the order in which they appear.
func views(all []*Difference) [][]*Difference {
	return groupsOf(all, func(d *Difference) (string, bool) { return d.Statistic, true })
}

// grouping is what a view is called.
func (a *About) grouping() string {
	if a.Group == correlate.None.String() || a.Group == "" {
		return "flattened"
	}
	return "by " + a.Group
}

// Forests returns, for each dataset, every setting beside what it is compared
// with, under the first statistic and all its groupings.
func (r *Result) Forests() []report.Forest {
	var out []report.Forest
	for _, all := range r.leading() {
		by := views(all)
		first := by[0][0]
		f := report.Forest{Level: r.Confidence, Views: []string{""}, Value: report.Display(first.measured().statistic)}
		if len(by) == 1 {
			f.Value = report.Display(first.Statistic)
		} else {
			f.Views = nil
			for _, view := range by {
				f.Views = append(f.Views, view[0].grouping())
			}
		}
		f.Unit = "difference in " + f.Value
		if first.Human != "" {
			f.Unit += " with " + first.Human
		}
		f.Title = "Every setting against " + base(all)
		if len(r.Datasets) > 1 {
			f.Title += first.on(true)
		}
		type key struct {
			metric string
			b      SettingName
		}
		for _, group := range groupsOf(by[0], func(d *Difference) (key, bool) { return key{d.A.Metric, d.B}, true }) {
			of := group[0]
			g := report.ForestGroup{Name: report.Display(of.A.Metric), Against: against(of)}
			var values []string
			for _, view := range by {
				at := slices.IndexFunc(view, func(d *Difference) bool { return d.A.Metric == of.A.Metric && d.B == of.B })
				if at >= 0 {
					values = append(values, strings.TrimSpace(report.TrueMinus(fixed(float64(view[at].BValue)))+" "+viewName(by, view)))
				}
			}
			g.Against += ": " + strings.Join(values, ", ")
			for _, d := range group {
				g.Rows = append(g.Rows, forestRow(d, all, by))
			}
			f.Groups = append(f.Groups, g)
		}
		r.repeats(func(dataset, metric, text string, cells int) {
			if dataset == first.Dataset && !strings.Contains(text, " over 1 reference ") {
				f.Notes = append(f.Notes, fmt.Sprintf("%s: %s, with equal scores of all %s", report.Display(metric), text, english.Thousands(cells, "output")))
			}
		})
		out = append(out, f)
	}
	return out
}

// viewName names a view where there are several.
func viewName(by [][]*Difference, view []*Difference) string {
	if len(by) == 1 {
		return ""
	}
	return view[0].grouping()
}

// base names what all are compared with, such as "the single reference".
func base(all []*Difference) string {
	first := all[0]
	switch same := func(d *Difference) bool {
		return d.B.Aggregator == first.B.Aggregator && d.B.References == first.B.References
	}; {
	case slices.ContainsFunc(all, func(d *Difference) bool { return !same(d) || d.A.Metric != d.B.Metric }):
		return "what it is compared with"
	case first.B.Aggregator == "single":
		return "the single reference"
	}
	return first.BName
}

// against names what a difference is taken to.
func against(d *Difference) string {
	name := d.BName
	if d.B.Aggregator == "single" {
		name = "the single reference"
	}
	if d.A.Metric != d.B.Metric {
		name = report.Display(d.B.Metric) + ", " + name
	}
	return name
}

func forestRow(d *Difference, all []*Difference, by [][]*Difference) report.ForestRow {
	row := report.ForestRow{Name: short(d, all)}
	for _, view := range by {
		e := report.Effect{Value: report.None(), Difference: report.None()}
		if at := slices.IndexFunc(view, func(v *Difference) bool { return v.A == d.A && v.B == d.B }); at >= 0 {
			v := view[at]
			e = report.Effect{Value: v.AValue, Difference: v.Value, Range: v.Interval, P: shortP(v.Corrected), Outcome: v.outcome()}
		}
		row.Effects = append(row.Effects, e)
	}
	return row
}

// outcome is what a difference decides; Neutral for one that was not tested or
// is none.
func (d *Difference) outcome() report.Outcome {
	switch {
	case d.Significant && d.Value > 0:
		return report.Better
	case d.Significant:
		return report.Worse
	case d.Interval == nil && !d.P.Defined() || d.Cells > 0 && d.Equal == d.Cells:
		return report.Neutral
	}
	return report.Unclear
}

// short is the name of a setting without its set of references where there is one
// set only.
func short(d *Difference, all []*Difference) string {
	if slices.ContainsFunc(all, func(o *Difference) bool { return o.A.References != d.A.References }) {
		return d.AName
	}
	return strings.TrimSuffix(d.AName, " ("+d.A.References+")")
}

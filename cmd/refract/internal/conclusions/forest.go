package conclusions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
)

// ungrouped is the label of a statistic without its grouping; statistics with the same one
// are views of one forest.
func ungrouped(a *experiment.About) string {
	return strings.Replace(a.Statistic, " by "+a.Group, "", 1)
}

// grouping names the grouping of a statistic.
func grouping(a *experiment.About) string {
	if a.Group == correlate.None.String() || a.Group == "" {
		return "flattened"
	}
	return "by " + a.Group
}

// Leads reports whether a difference is in a forest of the result: it is against the
// baseline of its metric, under the leading statistic in any grouping.
func (r *Result) Leads(d *experiment.Difference) bool {
	all := r.leading()
	return len(all) > 0 && d.Value.Defined() && ungrouped(&d.About) == ungrouped(&all[0].About) && len(r.againstBase([]*experiment.Difference{d})) > 0
}

// Forests returns, for each dataset, a dot and an interval for every setting against its baseline,
// under the statistic that leads, in every grouping, with the numbers. Worse settings have another
// colour; what decides nothing is grey.
func (r *Result) Forests() []page.Figure {
	var out []page.Figure
	for _, all := range groupsOf(pointers(r.Differences), func(d *experiment.Difference) (string, bool) { return d.Dataset, r.Leads(d) }) {
		first, over := all[0], r.overAll(all)
		statistic := report.Display(ungrouped(&first.About))
		unit, title := "difference in "+statistic, "Every setting against "+base(all)
		if first.Human != "" {
			unit += " with " + first.Human
		}
		if over != "" {
			title = fmt.Sprintf("Every setting over %s, against %s", over, base(all))
		}
		grouped := slices.ContainsFunc(all, func(d *experiment.Difference) bool { return d.Statistic != first.Statistic })
		f := page.Figure{ID: fmt.Sprintf("forest-%d", len(out)+1), Title: title + onDataset(first.Dataset, len(r.Datasets) > 1),
			Alt: "Forest plot: " + unit + ", with intervals; the numbers are in the table below."}
		f.Data = &report.NamedTable{Name: f.ID, Title: f.Title, Columns: columns(report.Column{Name: "setting"}, report.Column{Name: "grouping", Hide: !grouped},
			report.Column{Name: "value", Header: statistic, Kind: report.KindFloat, Digits: 3}, value("difference", 3),
			report.Column{Name: "interval", Header: fmt.Sprintf("%.4g%% interval", 100*r.Confidence), Kind: report.KindInterval, Digits: 3}, value("p", 3))}
		dots := &figure.Bars{Value: unit, Dots: true}
		for _, of := range groupsOf(all, func(d *experiment.Difference) (string, bool) { return d.A.Metric, true }) {
			var baseline []string
			drawn := ""
			for _, d := range of {
				name, by := named(d, all, over), ""
				if grouped {
					by = grouping(&d.About)
				}
				f.Data.Add(name, by, d.AValue, d.Value, d.Interval, d.Corrected)
				if d.A == of[0].A && d.B == of[0].B {
					baseline = append(baseline, strings.TrimSpace(report.TrueMinus(fixed(float64(d.BValue)))+" "+by))
				}
				if d.Interval == nil {
					continue
				}
				dot, way := bar(by, d.Value, d.Interval), outcome(d) // the picture names a setting once
				if name != drawn {
					dot.Name, drawn = strings.TrimSuffix(name+", "+by, ", "), name
				}
				dot.Muted, dot.Worse = way != page.Better && way != page.Worse, way == page.Worse
				dots.Bars = append(dots.Bars, dot)
			}
			f.Data.Note("%s with %s: %s", report.Display(of[0].A.Metric), base(of), strings.Join(baseline, ", "))
		}
		if len(dots.Bars) > 0 {
			f.Panels, f.Notes = []figure.Panel{dots}, []string{"Blue is significantly better, orange significantly worse, grey neither."}
		}
		r.repeats(func(s *experiment.Same, names string) {
			if s.Dataset == first.Dataset && s.As.Aggregator != "single" {
				f.Data.Note("%s: %s and %s have equal scores in all %s, and share a row", report.Display(s.Setting.Metric), names, s.AsName, english.Thousands(s.Cells, "cell"))
			}
		})
		out = append(out, f)
	}
	return out
}

// base names what all are compared with, such as "the single reference".
func base(all []*experiment.Difference) string {
	first := all[0]
	if at := slices.IndexFunc(all, (*experiment.Difference).AcrossMetrics); at >= 0 { // of another metric, so that it is named with its own
		first = all[at]
	}
	switch {
	case slices.ContainsFunc(all, func(d *experiment.Difference) bool {
		return d.B.Aggregator != first.B.Aggregator || d.B.References != first.B.References
	}):
		return "what it is compared with"
	case first.B.Aggregator == "single" && !first.AcrossMetrics():
		return "one reference"
	}
	return report.Display(first.BName)
}

// tested reports whether there is an interval or a test, and anything to test.
func tested(d *experiment.Difference) bool {
	return (d.Interval != nil || d.P.Defined()) && (d.Cells == 0 || d.Equal < d.Cells)
}

// outcome returns what a difference decides; Neutral if it was not tested or is 0.
func outcome(d *experiment.Difference) page.Outcome {
	switch {
	case d.Significant && d.Value > 0:
		return page.Better
	case d.Significant:
		return page.Worse
	case !tested(d):
		return page.Neutral
	}
	return page.Unclear
}

// short is the name of a setting, without its set of references if every setting has all
// references.
func short(d *experiment.Difference, all []*experiment.Difference) string {
	name := d.AName
	if !slices.ContainsFunc(all, func(o *experiment.Difference) bool { return o.A.References != experiment.AllReferences }) {
		name = strings.TrimSuffix(name, " ("+experiment.AllReferences+")")
	}
	return name
}

// named is the name of a setting with its metric, without the references that all are over.
func named(d *experiment.Difference, all []*experiment.Difference, over string) string {
	name := short(d, all)
	if !d.AcrossMetrics() {
		name = d.A.Metric + " " + name
	}
	return report.Display(strings.TrimSuffix(name, " over "+over))
}

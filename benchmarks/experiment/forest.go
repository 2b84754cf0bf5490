package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

// ungrouped is the label of a statistic without its grouping; statistics with the same one
// are views of one forest.
func (a *About) ungrouped() string { return strings.Replace(a.Statistic, " by "+a.Group, "", 1) }

// grouping names the grouping of a statistic.
func (a *About) grouping() string {
	if a.Group == correlate.None.String() || a.Group == "" {
		return "flattened"
	}
	return "by " + a.Group
}

// Leads reports whether a difference is in a forest of the result: it is against the
// baseline of its metric, under the leading statistic in any grouping.
func (r *Result) Leads(d *Difference) bool {
	all := r.leading()
	return len(all) > 0 && d.Value.Defined() && d.ungrouped() == all[0].ungrouped() && len(r.againstBase([]*Difference{d})) > 0
}

// Forests returns, for each dataset, every setting against its baseline, under the
// statistic that leads, in every grouping.
func (r *Result) Forests() []report.Forest {
	var out []report.Forest
	for _, all := range groupsOf(pointers(r.Differences), func(d *Difference) (string, bool) { return d.Dataset, r.Leads(d) }) {
		first, over := all[0], r.overAll(all)
		f := report.Forest{Title: "Every setting against " + base(all), Level: r.Confidence, Value: report.Display(first.ungrouped())}
		f.Unit = "difference in " + f.Value
		if first.Human != "" {
			f.Unit += " with " + first.Human
		}
		if over != "" {
			f.Title = fmt.Sprintf("Every setting over %s, against %s", over, base(all))
		}
		f.Title += first.onDataset(len(r.Datasets) > 1)
		grouped := slices.ContainsFunc(all, func(d *Difference) bool { return d.Statistic != first.Statistic })
		for _, of := range groupsOf(all, func(d *Difference) (string, bool) { return d.A.Metric, true }) {
			var baseline []string
			for _, d := range of {
				row := report.ForestRow{Setting: d.named(all, over),
					Value: d.AValue, Difference: d.Value, Range: d.Interval, P: d.Corrected, Outcome: d.outcome()}
				if grouped {
					row.Grouping = d.grouping()
				}
				f.Rows = append(f.Rows, row)
				if d.A == of[0].A && d.B == of[0].B {
					baseline = append(baseline, strings.TrimSpace(report.TrueMinus(fixed(float64(d.BValue)))+" "+row.Grouping))
				}
			}
			f.Notes = append(f.Notes, fmt.Sprintf("%s with %s: %s", report.Display(of[0].A.Metric), base(of), strings.Join(baseline, ", ")))
		}
		r.repeats(func(s *Same, names string) {
			if s.Dataset == first.Dataset && s.As.Aggregator != "single" {
				f.Notes = append(f.Notes, fmt.Sprintf("%s: %s and %s have equal scores in all %s, and share a row", report.Display(s.Setting.Metric), names, s.AsName, english.Thousands(s.Cells, "cell")))
			}
		})
		out = append(out, f)
	}
	return out
}

// base names what all are compared with, such as "the single reference".
func base(all []*Difference) string {
	first := all[0]
	if at := slices.IndexFunc(all, (*Difference).ofFiles); at >= 0 { // of another metric, so that it is named with its own
		first = all[at]
	}
	switch {
	case slices.ContainsFunc(all, func(d *Difference) bool {
		return d.B.Aggregator != first.B.Aggregator || d.B.References != first.B.References
	}):
		return "what it is compared with"
	case first.B.Aggregator == "single" && !first.ofFiles():
		return "one reference"
	}
	return report.Display(first.BName)
}

// tested reports whether there is an interval or a test, and anything to test.
func (d *Difference) tested() bool {
	return (d.Interval != nil || d.P.Defined()) && (d.Cells == 0 || d.Equal < d.Cells)
}

// outcome returns what a difference decides; Neutral if it was not tested or is 0.
func (d *Difference) outcome() report.Outcome {
	switch {
	case d.Significant && d.Value > 0:
		return report.Better
	case d.Significant:
		return report.Worse
	case !d.tested():
		return report.Neutral
	}
	return report.Unclear
}

// short is the name of a setting, without its set of references if every setting has all
// references.
func (d *Difference) short(all []*Difference) string {
	name := d.AName
	if !slices.ContainsFunc(all, func(o *Difference) bool { return o.A.References != allSet }) {
		name = strings.TrimSuffix(name, " ("+allSet+")")
	}
	return name
}

// named is the name of a setting with its metric, without the references that all are over.
func (d *Difference) named(all []*Difference, over string) string {
	name := d.short(all)
	if !d.ofFiles() {
		name = d.A.Metric + " " + name
	}
	return report.Display(strings.TrimSuffix(name, " over "+over))
}

package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// highest is the sentence of a result that compares nothing: the setting with
// the largest value of the first statistic, and whether it is clearly ahead of the
// next one. Settings that lack scores which others have are of other outputs, and are
// named apart.
func (r *Result) highest() string {
	var all []*Row
	least := map[string]int{} // missing scores of a dataset
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Value.Defined() && row.Statistic == r.Statistics[0] {
			all = append(all, row)
			if n, ok := least[row.Dataset]; !ok || row.Missing < n {
				least[row.Dataset] = row.Missing
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	var lacking []string
	all = slices.DeleteFunc(all, func(row *Row) bool {
		n := row.Missing - least[row.Dataset]
		if n > 0 {
			lacking = append(lacking, fmt.Sprintf("%s lacks %s", report.Display(row.Setting.String())+row.on(len(r.Datasets) > 1), english.Thousands(n, "score")))
		}
		return n > 0
	})
	slices.SortStableFunc(all, func(a, b *Row) int { return cmp.Compare(b.Value, a.Value) })
	top := all[0]
	rest := slices.DeleteFunc(all[1:], func(row *Row) bool { return row.Dataset != top.Dataset })
	several := len(r.Datasets) > 1
	name := report.Display(top.Setting.String())
	value := report.TrueMinus(strings.TrimPrefix(change(top.Value, top.Interval), "+"))
	text := fmt.Sprintf("%s has %s %s", name, report.Display(top.Statistic), value)
	if len(all) > 1 {
		text = fmt.Sprintf("%s has the highest %s, %s", name, report.Display(top.Statistic), value)
	}
	if top.Human != "" {
		text += ", with " + top.Human
	}
	text += top.on(several)
	if len(rest) > 0 {
		text += "; " + top.ahead(rest[0], r.Confidence)
	}
	if len(lacking) > 0 {
		text += "; " + firstOf(lacking) + " and cannot be set beside it"
	}
	return text
}

// ahead says whether a row is clearly ahead of the next one, which has the same
// draws of resamples.
func (r *Row) ahead(next *Row, confidence float64) string {
	name := report.Display(next.Setting.String())
	value := report.TrueMinus(fixed(float64(next.Value)))
	lead := intervalOf(differences(r.resamples, next.resamples), confidence)
	switch {
	case lead == nil:
		return fmt.Sprintf("next is %s, %s; the difference is not tested", name, value)
	case lead.Contains(0):
		return fmt.Sprintf("not clearly ahead of %s, %s", name, value)
	}
	return fmt.Sprintf("ahead of %s, %s, by %s", name, value, report.TrueMinus(strings.TrimPrefix(change(r.Value-next.Value, lead), "+")))
}

// standing is the sentence of a result of tasks: the settings of the first cluster.
func (r *Result) standing() string {
	var all []*Standing
	for i := range r.Standings {
		if s := &r.Standings[i]; s.Average.Defined() {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b *Standing) int { return cmp.Compare(b.Average, a.Average) })
	top := all[0]
	text := fmt.Sprintf("%s has the highest average over %s, %s", report.Display(top.Setting.String()), english.Thousands(len(r.Tasks), "task"), fixed(float64(top.Average)))
	if top.AverageRank.Defined() {
		text += fmt.Sprintf(", and average rank %.2f", float64(top.AverageRank))
	}
	var level []string
	for _, s := range all[1:] {
		if s.Rank == 1 {
			level = append(level, fmt.Sprintf("%s (%s)", report.Display(s.Setting.String()), fixed(float64(s.Average))))
		}
	}
	switch {
	case top.Rank == 0 && len(all) > 1:
		text += fmt.Sprintf("; next is %s, %s; the difference is not tested", report.Display(all[1].Setting.String()), fixed(float64(all[1].Average)))
	case len(level) > 0:
		text += "; not significantly behind: " + firstOf(level)
	case len(all) > 1:
		text += fmt.Sprintf("; significantly ahead of all others, first %s (%s)", report.Display(all[1].Setting.String()), fixed(float64(all[1].Average)))
	}
	return text
}

package experiment

import (
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/report"
)

// rank orders the systems of a dataset under all settings. Only systems scored by every
// setting have a place, so that places are comparable; a setting that scores none does not
// count for this rule.
func rank(d *data, settings []*setting) Ranking {
	out := Ranking{Dataset: d.Name, Human: d.human, Settings: []SettingName{}, LeftOut: []string{}}
	gold := *d.gold
	gold.Metric, gold.MetricOK = gold.Gold, gold.GoldOK
	human, _, judged := correlate.SystemMeans(&gold)
	means, cells := make([][]float64, len(settings)), make([][]int, len(settings))
	lacks := make([]bool, len(d.systems))
	for k, s := range settings {
		_, means[k], cells[k] = correlate.SystemMeans(s.table.Pairs)
		for i, n := range cells[k] {
			lacks[i] = lacks[i] || n == 0 && slices.Max(cells[k]) > 0
		}
	}
	places := func(means []float64, cells []int, direction float64) []report.Place {
		out := make([]report.Place, len(means))
		for i, v := range means { // the highest is the best
			if out[i].Score = report.None(); cells[i] > 0 && !lacks[i] {
				out[i] = report.Place{Score: Number(direction * v), Cells: cells[i]}
			}
		}
		report.Ranks(out, direction)
		return out
	}
	first := places(human, judged, d.turned(1))
	for i, name := range d.systems {
		if lacks[i] {
			out.LeftOut = append(out.LeftOut, name)
		}
		out.Systems = append(out.Systems, report.RankedSystem{Name: name, First: first[i], Under: []report.Place{}})
	}
	for k, s := range settings {
		out.Settings = append(out.Settings, s.name)
		for i, p := range places(means[k], cells[k], float64(s.series.info.Direction)) {
			out.Systems[i].Under = append(out.Systems[i].Under, p)
		}
	}
	out.Systems = slices.DeleteFunc(out.Systems, func(s report.RankedSystem) bool { return slices.Contains(out.LeftOut, s.Name) })
	slices.SortStableFunc(out.Systems, func(a, b report.RankedSystem) int { return a.First.Before(b.First) })
	return out
}

// Without says which systems have no place, "" if all have one.
func (k *Ranking) Without() string {
	if len(k.LeftOut) == 0 {
		return ""
	}
	return "without a place, as not every setting scores them: " + strings.Join(k.LeftOut, ", ")
}

package experiment

import (
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

// rank orders the systems of a dataset under all settings.
func rank(d *data, settings []*setting) Ranking {
	out := Ranking{Dataset: d.Name, Human: d.human, Settings: []SettingName{}, Names: []string{}}
	gold := *d.gold
	gold.Metric, gold.MetricOK = gold.Gold, gold.GoldOK
	human, _, cells := correlate.SystemMeans(&gold)
	first := places(human, cells, 1)
	for i, name := range d.systems {
		out.Systems = append(out.Systems, report.RankedSystem{Name: name, First: first[i], Under: []report.Place{}})
	}
	for _, s := range settings {
		out.Settings = append(out.Settings, s.name)
		out.Names = append(out.Names, s.name.Metric+", "+s.label)
		_, metric, cells := correlate.SystemMeans(s.table.Pairs)
		for i, p := range places(metric, cells, float64(s.series.info.Direction)) {
			out.Systems[i].Under = append(out.Systems[i].Under, p)
		}
	}
	slices.SortStableFunc(out.Systems, func(a, b report.RankedSystem) int { return a.First.Before(b.First) })
	return out
}

// places ranks means of which the highest is the best, and turns them into the
// metric's units.
func places(means []float64, cells []int, direction float64) []report.Place {
	out := make([]report.Place, len(means))
	for i, v := range means {
		out[i] = report.Place{Score: Number(direction * v), Cells: cells[i]}
		if cells[i] == 0 {
			out[i].Score = report.None()
		}
	}
	report.Ranks(out, direction)
	return out
}

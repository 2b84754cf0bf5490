package demo

import (
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/report"
)

// Scores shows the mean scores of the systems with one reference and with all,
// beside the judgements.
func Scores(r *experiment.Ranking) *report.NamedTable {
	t := &report.NamedTable{Title: "Mean scores: one reference (single) and the best of eleven (max)"}
	t.Columns = []report.Column{{Name: "system"}, {Name: r.Human, Kind: report.KindFloat, Digits: 1}}
	shown := func(s experiment.SettingName) bool { return s.Aggregator == "single" || s.Aggregator == "max" }
	for _, s := range r.Settings {
		if shown(s) {
			t.Columns = append(t.Columns, report.Column{Name: s.Metric + " " + s.Aggregator, Kind: report.KindFloat, Digits: 1})
		}
	}
	for _, s := range r.Systems {
		row := []any{s.Name, s.First.Score}
		for i, p := range s.Under {
			if shown(r.Settings[i]) {
				row = append(row, p.Score)
			}
		}
		t.Add(row...)
	}
	return t
}

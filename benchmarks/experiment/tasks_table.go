package experiment

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract/report"
)

// taskTable has a row for each setting, with its average over the tasks and its
// value in each; those that lack a task come last.
func (r *Result) taskTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Settings over all tasks", Columns: []report.Column{
		{Name: "metric"}, {Name: "set", Header: "references"}, {Name: "aggregate"},
		{Name: "average", Kind: report.KindFloat, Digits: 3},
		{Name: "average_rank", Header: "average rank", Kind: report.KindFloat, Digits: 2}, countColumn("rank", "cluster"),
	}}
	standings := slices.Clone(r.Standings)
	total := 0.0
	for i := range r.Tasks {
		of := &r.Tasks[i]
		total += of.Weight
		t.Columns = append(t.Columns,
			report.Column{Name: of.Label, Header: fmt.Sprintf("task %d", i+1), Kind: report.KindFloat, Digits: 3, Minor: true},
			report.Column{Name: of.Label + " rank", Header: "rank", Kind: report.KindInt, Minor: true, Secondary: true})
		for _, e := range of.Entries {
			if !slices.ContainsFunc(standings, func(s Standing) bool { return s.Setting == e.Setting }) {
				standings = append(standings, Standing{Setting: e.Setting, Average: report.None(), AverageRank: report.None()})
			}
		}
	}
	for _, s := range standings {
		row := []any{s.Setting.Metric, report.StringOrNull(s.Setting.References), report.StringOrNull(s.Setting.Aggregator),
			s.Average, s.AverageRank, rankOrNull(s.Rank)}
		for i := range r.Tasks {
			value, rank := report.Null(), report.Null()
			if k := slices.IndexFunc(r.Tasks[i].Entries, func(e TaskEntry) bool { return e.Setting == s.Setting }); k >= 0 {
				value, rank = r.Tasks[i].Entries[k].Value.Cell(), rankOrNull(r.Tasks[i].Entries[k].Rank)
			}
			row = append(row, value, rank)
		}
		t.Add(row...)
	}
	t.Notes = []string{
		"average: weighted mean of the values, correlations taken from [-1, 1] to [0, 1]; average rank: weighted mean of the ranks",
		"cluster: by significance, of the average by the resamples of all tasks together, none where a test draws none",
	}
	for i := range r.Tasks {
		of := &r.Tasks[i]
		how := "ranks by value alone"
		if of.Test != "" {
			how = of.Test
		}
		t.Note("task %d: %s; weight %.4g, %s", i+1, of.Label, of.Weight/total, how)
	}
	return t
}

func rankOrNull(rank int) report.Value {
	if rank == 0 {
		return report.Null()
	}
	return report.Int(rank)
}

// taskRowTable has a row for each task and setting.
func (r *Result) taskRowTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Settings by task", Columns: []report.Column{
		{Name: "dataset"}, {Name: "domain"}, {Name: "statistic"}, {Name: "level", Hide: true}, {Name: "group", Hide: true}, {Name: "human", Hide: true},
		{Name: "metric"}, {Name: "set", Header: "references"}, {Name: "aggregate"}, valueColumn("value"), countColumn("rank", ""),
		minorCount("missing"), {Name: "weight", Kind: report.KindFloat, Digits: 4, Minor: true}, {Name: "test", Hide: true},
	}}
	for i := range r.Tasks {
		of := &r.Tasks[i]
		for _, e := range of.Entries {
			t.Add(of.Dataset, report.StringOrNull(of.Domain), of.Statistic, of.Level, of.Group, report.StringOrNull(of.Human),
				e.Setting.Metric, report.StringOrNull(e.Setting.References), report.StringOrNull(e.Setting.Aggregator), e.Value, rankOrNull(e.Rank),
				e.Missing, of.Weight, report.StringOrNull(of.Test))
		}
	}
	t.Notes = []string{"rank: clusters by significance within the task; missing: judged cells without a score"}
	return t
}

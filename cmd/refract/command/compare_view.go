package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/report"
)

// compared is a result as the tables of a comparison show it.
type compared struct {
	plan  *experiment.Plan
	data  *experiment.DatasetInfo
	rows  []experiment.Row // the statistics of each setting in turn
	ranks []experiment.Ranks
}

// row is that of a setting and a statistic.
func (c *compared) row(setting, statistic int) *experiment.Row {
	return &c.rows[setting*len(c.plan.Statistics)+statistic]
}

func (c *compared) settings() int { return len(c.rows) / len(c.plan.Statistics) }

// cells is the number of cells of the compared systems.
func (c *compared) cells() int { return c.data.Segments * len(c.data.Systems) }

// rank is that of a setting, null where its measure is undefined.
func (c *compared) rank(setting, statistic int) report.Value {
	if rank := c.ranks[statistic].Comparison.Ranks[setting]; rank > 0 {
		return report.Int(rank)
	}
	return report.Null()
}

// settingOf is how people name the setting of a row.
func settingOf(r *experiment.Row) string {
	if r.Setting.Aggregator == "" {
		return r.Setting.Metric
	}
	return r.Setting.Metric + " " + r.Setting.Aggregator
}

// view is the table that was asked for.
func (c *comparer) view(p *experiment.Plan, res *experiment.Result) *report.NamedTable {
	v := &compared{plan: p, data: &res.Datasets[0], rows: res.Rows, ranks: res.Ranks}
	t := &report.NamedTable{}
	c.describe(t, v.data)
	if c.what == settingsTable {
		c.explain(t, "")
	}
	if p.Pairing == experiment.EveryPair {
		t.Note("%s", ranking(&p.Test))
	}
	for k := range v.settings() {
		r := v.row(k, 0)
		t.Note("%s: %s", settingOf(r), r.Signature)
	}
	switch c.what {
	case pairsTable:
		v.pairsIn(t)
	case ranksTable:
		v.ranksIn(t)
	default:
		v.settingsIn(t)
	}
	return t
}

// ranking says how ranks come about.
func ranking(t *experiment.Test) string {
	note := fmt.Sprintf("rank: clusters by %v, p up to %g", t.Method, t.Alpha)
	if t.Method != significance.MethodWilliams {
		note += fmt.Sprintf(", %d resamples, seed %d", t.Resamples, t.Seed)
	}
	if t.Block > 0 && t.Block < t.Resamples && t.Method != significance.MethodWilliams && t.Method != significance.MethodBootstrap {
		note += fmt.Sprintf(", fewer where p is below 0.02 or above 0.5 after a block of %d", t.Block)
	}
	return note
}

func (v *compared) settingsIn(t *report.NamedTable) {
	columns := []report.Column{
		{Name: "metric"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "aggregate"},
		{Name: "human", Hide: true},
		{Name: "level"},
		{Name: "group"},
		{Name: "statistic"},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
	}
	if v.ranks != nil {
		columns = append(columns, report.Column{Name: "rank", Kind: report.KindInt})
	}
	columns = append(columns,
		report.Column{Name: "n", Kind: report.KindInt},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "systems", Kind: report.KindInt, Minor: true},
		report.Column{Name: "groups", Kind: report.KindInt, Hide: true},
		report.Column{Name: "dropped", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
	t.Columns = columns
	for k := range v.settings() {
		for i, st := range v.plan.Statistics {
			r := v.row(k, i)
			if r.Note != "" {
				t.Note("%s", r.Note)
			}
			if st.Measure.Statistic.Calibrated() {
				t.Note("%v of %s: scores up to %.6g apart are tied", st.Measure.Statistic, settingOf(r), float64(r.Epsilon))
			}
			row := []any{
				r.Setting.Metric, r.MaxReferences, report.StringOrNull(r.Setting.Aggregator), r.Human, r.Level,
				r.Group, st.Name(), r.Value, r.Interval,
			}
			if v.ranks != nil {
				row = append(row, v.rank(k, i))
			}
			t.Add(append(row, r.N, r.Missing, r.Systems, r.Groups, r.Dropped, r.Signature)...)
		}
	}
}

func (v *compared) pairsIn(t *report.NamedTable) {
	t.Columns = []report.Column{
		{Name: "statistic"},
		{Name: "level"},
		{Name: "group"},
		{Name: "human", Hide: true},
		{Name: "better"},
		{Name: "better_aggregate", Header: "aggregate"},
		{Name: "worse"},
		{Name: "worse_aggregate", Header: "aggregate"},
		{Name: "delta", Kind: report.KindFloat, Digits: 3},
		{Name: "p", Kind: report.KindFloat, Digits: 4},
		{Name: "p_holm", Header: "p (Holm)", Kind: report.KindFloat, Digits: 4},
		{Name: "resamples", Kind: report.KindInt, Minor: true},
		{Name: "cells", Kind: report.KindInt, Minor: true},
		{Name: "missing", Kind: report.KindInt, Minor: true},
		{Name: "better_signature", Hide: true},
		{Name: "worse_signature", Hide: true},
	}
	t.Note("p: one-sided; Holm: corrected for the number of pairs under the statistic; cells: with a judgement and both scores, missing: without")
	for i, st := range v.plan.Statistics {
		tests := v.ranks[i]
		for x := range tests.Tests {
			for y := x + 1; y < len(tests.Tests); y++ {
				better, worse, res := v.row(tests.Order[x], i), v.row(tests.Order[y], i), tests.Tests[x][y]
				resamples := report.Null()
				if v.plan.Test.Method != significance.MethodWilliams {
					resamples = report.Int(res.Resamples)
				}
				t.Add(st.Name(), better.Level, better.Group, better.Human,
					better.Setting.Metric, report.StringOrNull(better.Setting.Aggregator), worse.Setting.Metric, report.StringOrNull(worse.Setting.Aggregator),
					res.Delta, res.P, tests.Corrected[x][y], resamples, res.Cells, v.cells()-res.Cells, better.Signature, worse.Signature)
			}
		}
	}
}

// ranksIn has a row per setting, with the ranks under all statistics, the
// best average first.
func (v *compared) ranksIn(t *report.NamedTable) {
	t.Columns = []report.Column{
		{Name: "metric"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "aggregate"},
		{Name: "human", Hide: true},
		{Name: "average_rank", Header: "average rank", Kind: report.KindFloat, Digits: 2},
	}
	var ranks [][]int
	for i, st := range v.plan.Statistics {
		t.Columns = append(t.Columns,
			report.Column{Name: st.Name(), Kind: report.KindFloat, Digits: 3},
			report.Column{Name: st.Name() + "_rank", Header: "rank", Kind: report.KindInt})
		ranks = append(ranks, v.ranks[i].Comparison.Ranks)
	}
	t.Columns = append(t.Columns,
		report.Column{Name: "cells", Kind: report.KindInt, Minor: true},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
	t.Note("average rank: mean of the ranks under the statistics; cells: with a judgement and a score, missing: without")
	averages := significance.AverageRanks(ranks)
	order := make([]int, len(averages))
	for k := range order {
		order[k] = k
	}
	last := func(average float64) float64 { // a setting without a rank is
		if math.IsNaN(average) {
			return math.Inf(1)
		}
		return average
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last(averages[i]), last(averages[j])) })
	for _, k := range order {
		r := v.row(k, 0)
		row := []any{r.Setting.Metric, r.MaxReferences, report.StringOrNull(r.Setting.Aggregator), r.Human, averages[k]}
		for i := range v.plan.Statistics {
			row = append(row, v.row(k, i).Value, v.rank(k, i))
		}
		t.Add(append(row, v.cells()-r.Missing, r.Missing, r.Signature)...)
	}
}

package command

import (
	"cmp"
	"fmt"
	"io"
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
	notes *notes
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

// write shows the table that was asked for.
func (c *comparer) write(out io.Writer, p *experiment.Plan, res *experiment.Result) error {
	v := &compared{plan: p, data: &res.Datasets[0], rows: res.Rows, ranks: res.Ranks, notes: c.judgementFlags.notes(&res.Datasets[0])}
	if c.what == settingsTable && c.bootstrap > 0 {
		v.notes.add(fmt.Sprintf("ci: %g%% bootstrap over segments, %d resamples, seed %d", 100*c.confidence, c.bootstrap, c.seed))
	}
	if p.Pairing == experiment.EveryPair {
		v.notes.add(c.method1(p))
	}
	for k := range v.settings() {
		r := v.row(k, 0)
		v.notes.add(settingOf(r) + ": " + r.Signature)
	}
	switch c.what {
	case pairsTable:
		return c.writePairs(out, v)
	case ranksTable:
		return c.writeRanks(out, v)
	}
	return c.writeSettings(out, v)
}

// method1 says how ranks come about.
func (c *comparer) method1(p *experiment.Plan) string {
	t := p.Test
	note := fmt.Sprintf("rank: clusters by %v, p up to %g", t.Method, t.Alpha)
	if t.Method != significance.MethodWilliams {
		note += fmt.Sprintf(", %d resamples, seed %d", t.Resamples, t.Seed)
	}
	if t.Block > 0 && t.Block < t.Resamples && t.Method != significance.MethodWilliams && t.Method != significance.MethodBootstrap {
		note += fmt.Sprintf(", fewer where p is below 0.02 or above 0.5 after a block of %d", t.Block)
	}
	return note
}

func (c *comparer) writeSettings(out io.Writer, v *compared) error {
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
	t := &report.NamedTable{Columns: columns}
	for k := range v.settings() {
		for i, st := range v.plan.Statistics {
			r := v.row(k, i)
			if r.Note != "" {
				v.notes.add(r.Note)
			}
			if st.Measure.Statistic.Calibrated() {
				v.notes.add(fmt.Sprintf("%v of %s: scores up to %.6g apart are tied", st.Measure.Statistic, settingOf(r), float64(r.Epsilon)))
			}
			row := []report.Value{
				report.String(r.Setting.Metric), report.Int(r.MaxReferences), report.StringOrNull(r.Setting.Aggregator), report.String(r.Human), report.String(r.Level),
				report.String(r.Group), report.String(st.Name()), r.Value.Cell(), r.Interval.Cell(),
			}
			if v.ranks != nil {
				row = append(row, v.rank(k, i))
			}
			t.Rows = append(t.Rows, append(row, report.Int(r.N), report.Int(r.Missing), report.Int(r.Systems),
				report.Int(r.Groups), report.Int(r.Dropped), report.String(r.Signature)))
		}
	}
	t.Notes = v.notes.lines
	return c.whole(out, t)
}

func (c *comparer) writePairs(out io.Writer, v *compared) error {
	t := &report.NamedTable{Columns: []report.Column{
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
	}}
	v.notes.add("p: one-sided; Holm: corrected for the number of pairs under the statistic; cells: with a judgement and both scores, missing: without")
	for i, st := range v.plan.Statistics {
		tests := v.ranks[i]
		for x := range tests.Tests {
			for y := x + 1; y < len(tests.Tests); y++ {
				better, worse, res := v.row(tests.Order[x], i), v.row(tests.Order[y], i), tests.Tests[x][y]
				resamples := report.Null()
				if v.plan.Test.Method != significance.MethodWilliams {
					resamples = report.Int(res.Resamples)
				}
				t.Rows = append(t.Rows, []report.Value{
					report.String(st.Name()), report.String(better.Level), report.String(better.Group), report.String(better.Human),
					report.String(better.Setting.Metric), report.StringOrNull(better.Setting.Aggregator), report.String(worse.Setting.Metric), report.StringOrNull(worse.Setting.Aggregator),
					report.Float(res.Delta), report.Float(res.P), report.Float(tests.Corrected[x][y]), resamples,
					report.Int(res.Cells), report.Int(v.cells() - res.Cells), report.String(better.Signature), report.String(worse.Signature),
				})
			}
		}
	}
	t.Notes = v.notes.lines
	return c.whole(out, t)
}

// writeRanks has a row per setting, with the ranks under all statistics, the
// best average first.
func (c *comparer) writeRanks(out io.Writer, v *compared) error {
	columns := []report.Column{
		{Name: "metric"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "aggregate"},
		{Name: "human", Hide: true},
		{Name: "average_rank", Header: "average rank", Kind: report.KindFloat, Digits: 2},
	}
	var ranks [][]int
	for i, st := range v.plan.Statistics {
		columns = append(columns,
			report.Column{Name: st.Name(), Kind: report.KindFloat, Digits: 3},
			report.Column{Name: st.Name() + "_rank", Header: "rank", Kind: report.KindInt})
		ranks = append(ranks, v.ranks[i].Comparison.Ranks)
	}
	t := &report.NamedTable{Columns: append(columns,
		report.Column{Name: "cells", Kind: report.KindInt, Minor: true},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})}
	v.notes.add("average rank: mean of the ranks under the statistics; cells: with a judgement and a score, missing: without")
	averages := significance.AverageRanks(ranks)
	order := make([]int, len(averages))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if a, b := math.IsNaN(averages[i]), math.IsNaN(averages[j]); a || b {
			return cmp.Compare(boolInt(a), boolInt(b))
		}
		return cmp.Compare(averages[i], averages[j])
	})
	for _, k := range order {
		r := v.row(k, 0)
		row := []report.Value{report.String(r.Setting.Metric), report.Int(r.MaxReferences), report.StringOrNull(r.Setting.Aggregator), report.String(r.Human), report.Float(averages[k])}
		for i := range v.plan.Statistics {
			row = append(row, v.row(k, i).Value.Cell(), v.rank(k, i))
		}
		t.Rows = append(t.Rows, append(row, report.Int(v.cells()-r.Missing), report.Int(r.Missing), report.String(r.Signature)))
	}
	t.Notes = v.notes.lines
	return c.whole(out, t)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

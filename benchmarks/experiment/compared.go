package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/report"
)

// SettingsTable compares the settings of a plan with one dataset: a row for each
// setting and statistic, with its rank where every pair was tested.
func SettingsTable(p *Plan, r *Result) *report.NamedTable {
	return newCompared(p, r).of((*compared).settings)
}

// PairsTable has a row for each test of two settings, of a plan with one dataset
// that tests every pair.
func PairsTable(p *Plan, r *Result) *report.NamedTable {
	return newCompared(p, r).of((*compared).pairs)
}

// RanksTable has a row for each setting of such a plan, with its ranks under all
// statistics, the best average first.
func RanksTable(p *Plan, r *Result) *report.NamedTable {
	return newCompared(p, r).of((*compared).ranking)
}

// compared is a table of the settings of one dataset in the making.
type compared struct {
	report.NamedTable
	res   *Result
	plan  *Plan
	data  *DatasetInfo
	rows  []Row // the statistics of each setting in turn
	ranks []Ranks
}

func newCompared(p *Plan, r *Result) *compared {
	c := &compared{res: r, plan: p, data: &r.Datasets[0], rows: r.Rows, ranks: r.Ranks}
	if p.Pairing == EveryPair {
		c.Note("%s", p.Test.ranking())
	}
	for k := range c.length() {
		row := c.row(k, 0)
		c.Note("%s: %s", row.Setting.OfAll(), row.Signature)
	}
	r.repeats(func(_, metric, text string, cells int) {
		c.Note("%s: %s, and stand in one row: equal scores in all %d cells", metric, text, cells)
	})
	return c
}

// of makes the table that is asked for, with the metrics that ended.
func (c *compared) of(table func(*compared) *report.NamedTable) *report.NamedTable {
	t := table(c)
	c.res.withEnded(t)
	return t
}

// row is that of a setting and a statistic.
func (c *compared) row(setting, statistic int) *Row {
	return &c.rows[setting*len(c.plan.Statistics)+statistic]
}

// length is the number of settings.
func (c *compared) length() int { return len(c.rows) / len(c.plan.Statistics) }

// cells is the number of cells of the compared systems.
func (c *compared) cells() int { return c.data.Segments * len(c.data.Systems) }

// rank is that of a setting, null where its measure is undefined.
func (c *compared) rank(setting, statistic int) report.Value {
	if rank := c.ranks[statistic].Comparison.Ranks[setting]; rank > 0 {
		return report.Int(rank)
	}
	return report.Null()
}

// OfAll names a setting where there is no set but that of all references.
func (n SettingName) OfAll() string {
	n.References = ""
	return n.String()
}

// ranking says how ranks come about.
func (t *Test) ranking() string {
	note := fmt.Sprintf("rank: clusters by %v, p up to %g", t.Method, t.Alpha)
	if t.Method != significance.MethodWilliams {
		note += fmt.Sprintf(", %d resamples, seed %d", t.Resamples, t.Seed)
	}
	if t.Block > 0 && t.Block < t.Resamples && t.Method != significance.MethodWilliams && t.Method != significance.MethodBootstrap {
		note += fmt.Sprintf(", fewer where p is below 0.02 or above 0.5 after a block of %d", t.Block)
	}
	return note
}

// settingColumns begin a table with a row for each setting, and cells such a row.
func settingColumns() []report.Column {
	return []report.Column{{Name: "metric"}, {Name: "references", Header: "refs", Kind: report.KindInt}, {Name: "aggregate"}, {Name: "human", Hide: true}}
}

func (r *Row) cells() []any {
	return []any{r.Setting.Metric, r.MaxReferences, report.StringOrNull(r.Setting.Aggregator), r.Human}
}

// pairColumns name two settings and their difference, and pairCells are a row of them.
func pairColumns() []report.Column {
	return []report.Column{
		{Name: "better"}, {Name: "better_aggregate", Header: "aggregate"}, {Name: "worse"}, {Name: "worse_aggregate", Header: "aggregate"},
		{Name: "delta", Kind: report.KindFloat, Digits: 3},
	}
}

func pairCells(better, worse SettingName, delta any) []any {
	return []any{better.Metric, report.StringOrNull(better.Aggregator), worse.Metric, report.StringOrNull(worse.Aggregator), delta}
}

func (c *compared) settings() *report.NamedTable {
	if places := c.places(); len(places) > 1 {
		return c.beside(places)
	}
	c.Columns = append(settingColumns(), []report.Column{
		{Name: "level"},
		{Name: "group"},
		{Name: "statistic"},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "resampled_by", Hide: true},
	}...)
	if c.ranks != nil {
		c.Columns = append(c.Columns, report.Column{Name: "rank", Kind: report.KindInt})
	}
	c.Columns = append(c.Columns,
		report.Column{Name: "n", Kind: report.KindInt},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "systems", Kind: report.KindInt, Minor: true},
		report.Column{Name: "groups", Kind: report.KindInt, Hide: true},
		report.Column{Name: "dropped", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
	for k := range c.length() {
		for i, st := range c.plan.Statistics {
			r := c.row(k, i)
			c.explain(r, st.Name())
			row := append(r.cells(), r.Level, r.Group, st.Name(), r.Value, r.Interval, report.StringOrNull(c.data.ResampledBy))
			if c.ranks != nil {
				row = append(row, c.rank(k, i))
			}
			c.Add(append(row, r.N, r.Missing, r.Systems, r.Groups, r.Dropped, r.Signature)...)
		}
	}
	return &c.NamedTable
}

// explain notes what is to be known of a row's value.
func (c *compared) explain(r *Row, statistic string) {
	if r.Note != "" {
		c.Note("%s", r.Note)
	}
	if r.Epsilon.Defined() {
		c.Note("%s of %s: scores up to %.6g apart are tied", statistic, r.Setting.OfAll(), float64(r.Epsilon))
	}
}

func (c *compared) pairs() *report.NamedTable {
	c.Columns = []report.Column{
		{Name: "statistic"},
		{Name: "level"},
		{Name: "group"},
		{Name: "human", Hide: true},
	}
	c.Columns = append(append(c.Columns, pairColumns()...), []report.Column{
		{Name: "p", Kind: report.KindFloat, Digits: 4},
		{Name: "p_holm", Header: "p (Holm)", Kind: report.KindFloat, Digits: 4},
		{Name: "resamples", Kind: report.KindInt, Minor: true},
		{Name: "cells", Kind: report.KindInt, Minor: true},
		{Name: "missing", Kind: report.KindInt, Minor: true},
		{Name: "better_signature", Hide: true},
		{Name: "worse_signature", Hide: true},
	}...)
	c.Note("p: one-sided; Holm: corrected for the number of pairs under the statistic; better: of the larger value over cells, which have a judgement and both scores; missing: cells without")
	for i, st := range c.plan.Statistics {
		tests := c.ranks[i]
		for x := range tests.Tests {
			for y := x + 1; y < len(tests.Tests); y++ {
				better, worse, res := c.row(tests.Order[x], i), c.row(tests.Order[y], i), tests.Tests[x][y]
				if res.Delta < 0 {
					better, worse, res.Delta = worse, better, -res.Delta
				}
				resamples := report.Null()
				if c.plan.Test.Method != significance.MethodWilliams {
					resamples = report.Int(res.Resamples)
				}
				row := append([]any{st.Name(), better.Level, better.Group, better.Human}, pairCells(better.Setting, worse.Setting, res.Delta)...)
				c.Add(append(row, res.P, tests.Corrected[x][y], resamples, res.Cells, c.cells()-res.Cells, better.Signature, worse.Signature)...)
			}
		}
	}
	return &c.NamedTable
}

func (c *compared) ranking() *report.NamedTable {
	c.Columns = append(settingColumns(), report.Column{Name: "average_rank", Header: "average rank", Kind: report.KindFloat, Digits: 2})
	var ranks [][]int
	for i, st := range c.plan.Statistics {
		name := st.Name()
		if len(c.places()) > 1 {
			name = st.Label()
		}
		c.Columns = append(c.Columns,
			report.Column{Name: name, Kind: report.KindFloat, Digits: 3},
			report.Column{Name: name + "_rank", Header: "rank", Kind: report.KindInt})
		ranks = append(ranks, c.ranks[i].Comparison.Ranks)
	}
	c.Columns = append(c.Columns,
		report.Column{Name: "cells", Kind: report.KindInt, Minor: true},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
	c.Note("average rank: mean of the ranks under the statistics; cells: with a judgement and a score, missing: without")
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
		r := c.row(k, 0)
		row := append(r.cells(), averages[k])
		for i := range c.plan.Statistics {
			row = append(row, c.row(k, i).Value, c.rank(k, i))
		}
		c.Add(append(row, c.cells()-r.Missing, r.Missing, r.Signature)...)
	}
	return &c.NamedTable
}

// CompareCurves fills in a table of the curves of a plan with one dataset, where
// each is compared with random choices of as many references too.
func CompareCurves(t *report.NamedTable, p *Plan, r *Result) {
	t.Columns = []report.Column{
		{Name: "metric"},
		{Name: "aggregate"},
		{Name: "by"},
		{Name: "over"},
		{Name: "k", Kind: report.KindInt},
		{Name: "references", Header: "refs", Kind: report.KindInt, Minor: true},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "band", Kind: report.KindInterval, Digits: 3, Minor: true},
		{Name: "to_all", Header: "to all", Kind: report.KindFloat, Digits: 3},
		{Name: "to_all_ci", Header: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "to_random", Header: "to random", Kind: report.KindFloat, Digits: 3},
		{Name: "to_random_ci", Header: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "n", Kind: report.KindInt, Minor: true},
		{Name: "missing", Kind: report.KindInt, Minor: true},
		{Name: "resampled_by", Hide: true},
	}
	for _, lines := range r.CurvesBySetting() {
		var random *CurveResult
		for _, c := range lines {
			if c.By == selection.ByRandom.String() {
				random = c
			}
		}
		if random != nil && random.Seeds > 1 {
			t.Note("random: mean of %d orders, seeds %d to %d; band: the least and the largest of them", random.Seeds, p.Bootstrap.Seed, p.Bootstrap.Seed+uint64(random.Seeds-1))
		}
		for _, c := range lines {
			for at := range c.Points {
				pt := &c.Points[at]
				toRandom, toRandomRange := report.None(), (*report.Range)(nil)
				if random != nil && random != c {
					toRandom, toRandomRange = pt.Less(&random.Points[at], r.Confidence)
				}
				t.Add(c.Metric, c.Aggregator, c.By, report.StringOrNull(c.Over), pt.K, pt.References,
					pt.Value, pt.Interval, report.Interval(float64(pt.Least), float64(pt.Largest)),
					pt.ToAll, pt.ToAllRange, toRandom, toRandomRange, pt.N, pt.Missing, report.StringOrNull(r.Datasets[0].ResampledBy))
			}
		}
	}
	r.withEnded(t)
	t.Note("k: variants beside the originals; to all: difference to all variants, over the cells that both score; to random: to the mean of random with the same k, where both score the same cells")
}

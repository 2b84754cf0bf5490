package experiment

import (
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/report"
)

// place is where a statistic is taken: its level and group.
type place struct {
	level correlate.Level
	group correlate.Grouping
}

// String is such as "document by system".
func (p place) String() string {
	if p.group == correlate.None {
		return p.level.String()
	}
	return p.level.String() + " by " + p.group.String()
}

// places are those of the plan's statistics, where one of them has several. What
// compares systems has one of its own.
func (c *compared) places() []place {
	var out []place
	several := false
	for i, st := range c.plan.Statistics {
		if p := (place{st.Level, st.Grouping}); !slices.Contains(out, p) {
			out = append(out, p)
		}
		several = several || slices.ContainsFunc(c.plan.Statistics[:i], func(o Statistic) bool { return o.Name() == st.Name() })
	}
	if !several {
		return nil
	}
	return out
}

// beside sets the values of a statistic at several places side by side: a row for
// each setting and statistic.
func (c *compared) beside(places []place) *report.NamedTable {
	c.Columns = append(settingColumns(), report.Column{Name: "statistic"})
	for _, p := range places {
		name := p.String()
		c.Columns = append(c.Columns,
			report.Column{Name: name, Kind: report.KindFloat, Digits: 3},
			report.Column{Name: name + " ci", Header: "ci", Kind: report.KindInterval, Digits: 3, Minor: true})
		if c.ranks != nil {
			c.Columns = append(c.Columns, report.Column{Name: name + " rank", Kind: report.KindInt})
		}
		c.Columns = append(c.Columns, report.Column{Name: name + " n", Kind: report.KindInt, Minor: true})
	}
	c.Columns = append(c.Columns,
		report.Column{Name: "resampled_by", Hide: true},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "systems", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
	var statistics []string
	for _, st := range c.plan.Statistics {
		if name := st.Name(); !slices.Contains(statistics, name) {
			statistics = append(statistics, name)
		}
	}
	for k := range c.length() {
		for _, statistic := range statistics {
			first := c.row(k, 0)
			row := append(first.cells(), statistic)
			for _, p := range places {
				value, ci, rank, n := report.Null(), report.Null(), report.Null(), report.Null()
				at := slices.IndexFunc(c.plan.Statistics, func(s Statistic) bool { return s.Name() == statistic && s.Level == p.level && s.Grouping == p.group })
				if at >= 0 {
					r := c.row(k, at)
					c.explain(r, c.plan.Statistics[at].Label())
					value, ci, n = r.Value.Cell(), r.Interval.Cell(), report.Int(r.N)
					if c.ranks != nil {
						rank = c.rank(k, at)
					}
				}
				row = append(row, value, ci)
				if c.ranks != nil {
					row = append(row, rank)
				}
				row = append(row, n)
			}
			c.Add(append(row, report.StringOrNull(c.data.ResampledBy), first.Missing, first.Systems, first.Signature)...)
		}
	}
	return &c.NamedTable
}

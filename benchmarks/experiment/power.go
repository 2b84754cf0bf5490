package experiment

import (
	"cmp"
	"fmt"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/report"
)

// power fills in what a comparison like that of a difference sees, by the resamples
// of it over the cells of a table.
func (r *run) power(t *table, st Statistic, resamples []float64, out *Difference) error {
	out.Error, out.Smallest = Number(significance.StandardError(resamples)), report.None()
	if !out.Error.Defined() {
		return nil
	}
	pairs, err := t.Pairs, error(nil)
	if st.Preference {
		pairs, err = t.decided()
	}
	if err != nil {
		return err
	}
	if out.Units, err = t.data.units.Drawn(pairs); err != nil {
		return err
	}
	asked := r.p.Power.orUsual(r.p.Bootstrap.Confidence)
	p := significance.Power{Error: float64(out.Error), Units: out.Units, Critical: significance.OneSided(asked.Alpha), Share: asked.Share}
	out.Smallest = Number(p.Smallest(out.Units))
	if n, ok := significance.Roughly(p.Needed(cmp.Or(asked.Difference, float64(out.Value)))); ok {
		out.Needed = n
	}
	return nil
}

// orUsual fills in the defaults.
func (p Power) orUsual(confidence float64) Power {
	p.Alpha, p.Share = cmp.Or(p.Alpha, (1-confidence)/2), cmp.Or(p.Share, 0.8)
	return p
}

// needed is a cell of how many units it takes.
func (d *Difference) needed() report.Value {
	if d.Needed == 0 {
		return report.Null()
	}
	return report.Int(d.Needed)
}

// PowerTable says what a comparison of two settings sees, of a plan with one dataset
// that takes every difference.
func PowerTable(p *Plan, r *Result) *report.NamedTable {
	return newCompared(p, r).of((*compared).power)
}

func (c *compared) power() *report.NamedTable {
	unit := c.data.ResampledBy
	c.Columns = append([]report.Column{{Name: "statistic"}, {Name: "human", Hide: true}}, append(pairColumns(), []report.Column{
		{Name: "standard_error", Header: "s.e.", Kind: report.KindFloat, Digits: 4},
		{Name: "resampled_by", Hide: true},
		{Name: "units", Header: unit + "s", Kind: report.KindInt},
		{Name: "smallest", Header: "smallest seen", Kind: report.KindFloat, Digits: 3},
		{Name: "difference", Kind: report.KindFloat, Hide: true},
		{Name: "needed", Header: unit + "s needed", Kind: report.KindInt},
		{Name: "cells", Kind: report.KindInt, Minor: true},
	}...)...)
	asked := c.plan.Power.orUsual(c.res.Confidence)
	for _, statistic := range c.res.Statistics {
		for i := range c.res.Differences {
			d := &c.res.Differences[i]
			if d.Statistic != statistic {
				continue
			}
			better, worse, delta := d.A, d.B, d.Value
			if delta < 0 {
				better, worse, delta = d.B, d.A, -delta
			}
			row := append([]any{d.Statistic, d.Human}, pairCells(better, worse, delta)...)
			c.Add(append(row, d.Error, report.StringOrNull(unit), d.Units, d.Smallest, cmp.Or(Number(asked.Difference), delta), d.needed(), d.Cells)...)
		}
	}
	of, same := "the delta found", correlate.SystemLevel.String()
	if asked.Difference > 0 {
		of = fmt.Sprintf("a delta of %g", asked.Difference)
	}
	if unit == same {
		same = correlate.SegmentLevel.String()
	}
	c.Note("smallest seen: true difference that a one-sided test of so many %ss finds with a probability of %g, at a p up to %g; s.e.: standard error of delta, of %d resamples", unit, asked.Share, asked.Alpha, c.plan.Bootstrap.Resamples)
	c.Note("%ss needed: to find %s so, in %ss like these and with the same %ss, to two digits", unit, of, unit, same)
	return &c.NamedTable
}

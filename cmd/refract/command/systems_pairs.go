package command

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

// pairs tests every pair: people see a matrix, programs a row a pair.
func (d *testedSystems) pairs(ctx context.Context) (*report.NamedTable, error) {
	t := d.tested(d.keyed(textColumn("system_a"), textColumn("system_b"), d.unit(), numberColumn("score_a", 0), numberColumn("score_b", 0), numberColumn("delta", 0),
		numberColumn("p", 0), numberColumn("p_corrected", 0), textColumn("result")))
	if d.format.ForPeople() {
		t = d.keyed(textColumn("system"), countColumn("rank"), countColumn(won), countColumn(tied), countColumn(lost))
		for i := range d.names {
			t.Columns = append(t.Columns, report.Column{Name: "over " + strconv.Itoa(i+1), Header: strconv.Itoa(i + 1)})
		}
	}
	pairs := len(d.names) * (len(d.names) - 1) / 2
	if least := float64(pairs) / float64(d.resamples+1); least > d.alpha {
		t.Note("of %s, no p is up to %g after correction for %s: raise --resamples to %d or more", english.Thousands(d.resamples, "resample"), d.alpha, english.Count(pairs, "pair"), int(math.Ceil(float64(pairs)/d.alpha)))
	}
	for k := range d.settings {
		c, err := d.compare(ctx, k, significance.EveryPair)
		if err != nil {
			return nil, err
		}
		if d.format.ForPeople() {
			d.unranked(t, k, c)
			d.matrix(t, k, c)
			continue
		}
		for i := range c.Pairs {
			p := &c.Pairs[i]
			d.addTested(t, k, d.names[p.A], d.names[p.B], p.Segments, p.ScoreA, p.ScoreB, p.Delta, shownP(p, p.P), shownP(p, p.Corrected), report.StringOrNull(d.result(k, p, p.Corrected, len(c.Pairs))))
		}
	}
	if d.format.ForPeople() {
		letters, of := "", ""
		if len(d.settings) > 1 {
			of = " of the same setting"
		}
		if len(d.names) > cellsWithP {
			letters = ": W win, L loss, t tie, e equal, f too few"
		}
		t.Note("columns are the systems in the order of the rows%s%s", of, letters)
		t.Note("p up to %g after Holm's correction for %s, which asks %.2g of the smallest p%s", d.alpha, english.Count(pairs, "pair"), d.alpha/float64(pairs), d.enough(pairs))
	}
	return t, nil
}

// cellsWithP is how many systems' columns fit with p-values in them.
const cellsWithP = 4

// matrix adds the rows of a setting, the best system first.
func (d *testedSystems) matrix(t *report.NamedTable, setting int, c *significance.SystemComparison) {
	order := byRank(c.Systems)
	results := make([][]string, len(d.names))
	cells := make([][]string, len(d.names))
	for i := range cells {
		results[i], cells[i] = make([]string, len(d.names)), make([]string, len(d.names))
	}
	letters := map[string]string{won: "W", lost: "L", tied: "t", same: "e", tooFew: "f"}
	other := map[string]string{won: lost, lost: won, tied: tied, same: same, tooFew: tooFew}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		result := d.result(setting, p, p.Corrected, len(c.Pairs))
		results[p.A][p.B], results[p.B][p.A] = result, other[result]
		cell := func(result string) string {
			switch {
			case len(d.names) > cellsWithP:
				return letters[result]
			case result == won || result == lost || result == tied:
				return fmt.Sprintf("%s %.2g", result, p.Corrected)
			}
			return result
		}
		cells[p.A][p.B], cells[p.B][p.A] = cell(result), cell(other[result])
	}
	for _, i := range order {
		counts := map[string]int{}
		for _, result := range results[i] {
			counts[result]++
		}
		rank := report.Null()
		if c.Systems[i].Rank > 0 {
			rank = report.Int(c.Systems[i].Rank)
		}
		row := []any{d.names[i], rank, counts[won], counts[tied], counts[lost]}
		for _, j := range order {
			row = append(row, report.StringOrNull(cells[i][j]))
		}
		d.add(t, setting, row...)
	}
}

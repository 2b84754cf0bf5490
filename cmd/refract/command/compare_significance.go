package command

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/report"
)

// The tables that a comparison can show.
const (
	settingsTable = "settings"
	pairsTable    = "pairs"
	ranksTable    = "ranks"
)

// significanceFlags say how settings are tested against each other.
type significanceFlags struct {
	methodName string
	resamples  int
	block      int
	alpha      float64
	what       string

	method significance.Method
}

func (s *significanceFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.methodName, "significance", "", strings.Join(significance.MethodNames(), ", ")+": test settings against each other")
	f.IntVar(&s.resamples, "resamples", 1000, "resamples of a test")
	f.IntVar(&s.block, "block", 100, "resamples after which a permutation test ends early if p is below 0.02 or above 0.5; 0 for never")
	f.Float64Var(&s.alpha, "alpha", 0.05, "largest p-value that is significant")
	f.StringVar(&s.what, "table", settingsTable, "settings, pairs (p-values) or ranks")
	grouped(cmd, statisticFlags, "significance", "table")
	complete(cmd, "significance", significance.MethodNames()...)
	complete(cmd, "table", settingsTable, pairsTable, ranksTable)
}

func (s *significanceFlags) on() bool { return s.methodName != "" }

// parse checks the flags for the measures that will be tested.
func (s *significanceFlags) parse(measures []correlate.Measure) error {
	tables := []string{settingsTable, pairsTable, ranksTable}
	if !slices.Contains(tables, s.what) {
		return usagef("--table: %s", suggest.Unknown("table", s.what, tables))
	}
	if !s.on() {
		if s.what != settingsTable {
			return usagef("--table %s needs a test: choose one by --significance, such as perm-both", s.what)
		}
		return nil
	}
	var err error
	if s.method, err = significance.ParseMethod(s.methodName); err != nil {
		return usagef("--significance: %w", err)
	}
	for _, m := range measures {
		if err := s.method.Takes(m); err != nil {
			return usagef("--significance: %w (--statistic says which are tested)", err)
		}
	}
	switch {
	case s.resamples < 1:
		return usagef("--resamples %d: want 1 or more", s.resamples)
	case s.block < 0:
		return usagef("--block %d: want 0 or more", s.block)
	case !(s.alpha > 0 && s.alpha < 1):
		return usagef("--alpha %v: want a share between 0 and 1", s.alpha)
	}
	return nil
}

// significanceResults are the tests under one measure.
type significanceResults struct{ *significance.Comparison }

// rank is that of a column, null where its measure is undefined.
func (r *significanceResults) rank(column int) report.Value {
	if r.Ranks[column] == 0 {
		return report.Null()
	}
	return report.Int(r.Ranks[column])
}

// checkSize says before the work what the bootstrap would fail at in the end,
// and what would take the other tests days: each resample calibrates anew.
func (c *comparer) checkSize(cmp *compared) error {
	if !c.significanceFlags.on() || c.level != correlate.SegmentLevel {
		return nil
	}
	switch c.method {
	case significance.MethodBootstrap, significance.MethodPermBoth, significance.MethodRandomization:
	default:
		return nil
	}
	for _, m := range cmp.measures {
		for _, t := range cmp.segments {
			if err := m.Resamplable(t); err != nil {
				return usagef("--significance %v: %w; perm-pairs tests it without that", c.method, err)
			}
		}
	}
	return nil
}

// test tests all settings against each other under each measure.
func (s *significanceFlags) test(ctx context.Context, cmp *compared, seed uint64) error {
	o := significance.Options{Resamples: s.resamples, Block: s.block, Seed: seed}
	for i, m := range cmp.measures {
		c, err := significance.Matrix(ctx, s.method, cmp.tables[i], m, s.alpha, o)
		if err != nil {
			return err
		}
		cmp.tests = append(cmp.tests, &significanceResults{c})
	}
	note := fmt.Sprintf("rank: clusters by %v, p up to %g", s.method, s.alpha)
	if s.method != significance.MethodWilliams {
		note += fmt.Sprintf(", %d resamples, seed %d", s.resamples, seed)
	}
	if s.block > 0 && s.block < s.resamples && s.method != significance.MethodWilliams && s.method != significance.MethodBootstrap {
		note += fmt.Sprintf(", fewer where p is below 0.02 or above 0.5 after a block of %d", s.block)
	}
	cmp.notes.add(note)
	return nil
}

func (c *comparer) writePairs(out *atomicfile.File, cmp *compared) error {
	columns := []report.Column{
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
	cmp.notes.add("p: one-sided; Holm: corrected for the number of pairs under the statistic; cells: with a judgement and both scores, missing: without")
	w, err := c.table(out, columns, report.Options{Notes: cmp.notes.lines})
	if err != nil {
		return err
	}
	for i, m := range cmp.measures {
		t := cmp.tests[i]
		for x := range t.Tests {
			for y := x + 1; y < len(t.Tests); y++ {
				better, worse, res := &cmp.columns[t.Order[x]], &cmp.columns[t.Order[y]], t.Tests[x][y]
				resamples := report.Null()
				if c.method != significance.MethodWilliams {
					resamples = report.Int(res.Resamples)
				}
				err := w.Row(report.String(m.Statistic.String()), report.String(c.levelOf(m).String()), report.String(m.Grouping.String()), report.String(cmp.human),
					report.String(better.metric), better.aggregateValue(), report.String(worse.metric), worse.aggregateValue(),
					report.Float(res.Delta), report.Float(res.P), report.Float(t.Corrected[x][y]), resamples,
					report.Int(res.Cells), report.Int(len(cmp.segments[0].Gold)-res.Cells), report.String(better.sig()), report.String(worse.sig()))
				if err != nil {
					return err
				}
			}
		}
	}
	return w.Close()
}

// writeRanks has a row per setting, with the ranks under all statistics, the
// best average first.
func (c *comparer) writeRanks(out *atomicfile.File, cmp *compared) error {
	columns := []report.Column{
		{Name: "metric"},
		{Name: "references", Header: "refs", Kind: report.KindInt},
		{Name: "aggregate"},
		{Name: "human", Hide: true},
		{Name: "average_rank", Header: "average rank", Kind: report.KindFloat, Digits: 2},
	}
	var ranks [][]int
	for i, m := range cmp.measures {
		name := m.Statistic.String()
		columns = append(columns,
			report.Column{Name: name, Kind: report.KindFloat, Digits: 3},
			report.Column{Name: name + "_rank", Header: "rank", Kind: report.KindInt})
		ranks = append(ranks, cmp.tests[i].Ranks)
	}
	columns = append(columns,
		report.Column{Name: "cells", Kind: report.KindInt, Minor: true},
		report.Column{Name: "missing", Kind: report.KindInt, Minor: true},
		report.Column{Name: "signature", Hide: true})
	cmp.notes.add("average rank: mean of the ranks under the statistics; cells: with a judgement and a score, missing: without")
	w, err := c.table(out, columns, report.Options{Notes: cmp.notes.lines})
	if err != nil {
		return err
	}
	averages := significance.AverageRanks(ranks)
	order := make([]int, len(cmp.columns))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, y := averages[i], averages[j]
		switch {
		case x < y || !math.IsNaN(x) && math.IsNaN(y):
			return -1
		case x > y || math.IsNaN(x) && !math.IsNaN(y):
			return 1
		}
		return 0
	})
	for _, k := range order {
		col := &cmp.columns[k]
		row := []report.Value{report.String(col.metric), report.Int(col.maxRefs), col.aggregateValue(), report.String(cmp.human), report.Float(averages[k])}
		for i := range cmp.measures {
			row = append(row, report.Float(cmp.results[i][k].Value), cmp.tests[i].rank(k))
		}
		missing := missingPairs(cmp.segments[k])
		row = append(row, report.Int(len(cmp.segments[k].Gold)-missing), report.Int(missing), report.String(col.sig()))
		if err := w.Row(row...); err != nil {
			return err
		}
	}
	return w.Close()
}

package command

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// Columns of the tables: texts, whole numbers, and numbers with decimals for people.
func textColumn(name string) report.Column  { return report.Column{Name: name} }
func countColumn(name string) report.Column { return report.Column{Name: name, Kind: report.KindInt} }
func numberColumn(name string, digits int) report.Column {
	return report.Column{Name: name, Header: strings.ReplaceAll(name, "_", " "), Kind: report.KindFloat, Digits: digits}
}

// programColumn leaves a column to programs.
func programColumn(c report.Column) report.Column {
	c.Hide = true
	return c
}

// keyed begins a table: people see a setting where there are several, programs
// its parts.
func (d *testedSystems) keyed(columns ...report.Column) *report.NamedTable {
	keys := []report.Column{{Name: "metric"}, {Name: "aggregate"}}
	if d.format.ForPeople() {
		if keys = []report.Column{{Name: "setting"}}; len(d.settings) == 1 {
			keys = nil
		}
	}
	return &report.NamedTable{Columns: append(keys, columns...)}
}

// tested adds what programs are told of the test to the columns of a table.
func (d *testedSystems) tested(t *report.NamedTable) *report.NamedTable {
	t.Columns = append(t.Columns, programColumn(textColumn("test")), programColumn(countColumn("resamples")), programColumn(textColumn("seed")))
	return t
}

// addTested adds a row about a setting to such a table.
func (d *testedSystems) addTested(t *report.NamedTable, setting int, cells ...any) {
	d.add(t, setting, append(cells, d.test.String(), d.resamples, strconv.FormatUint(d.seed, 10))...)
}

// add adds a row about a setting.
func (d *testedSystems) add(t *report.NamedTable, setting int, cells ...any) {
	set := d.settings[setting]
	keys := []any{set.Metric.Info().Name, report.StringOrNull(set.AggregatorName())}
	if d.format.ForPeople() {
		if keys = []any{set.String()}; len(d.settings) == 1 {
			keys = nil
		}
	}
	t.Add(append(keys, cells...)...)
}

// digits are the decimals of scores: one where those of all settings reach 10, as
// BLEU's do, and else three. Differences have one more.
func (d *testedSystems) digits() int {
	for _, scores := range d.scores {
		known, large := false, false
		for _, sc := range scores {
			known, large = known || sc.OK, large || math.Abs(sc.Value) >= 10
		}
		if known && !large {
			return 3
		}
	}
	return 1
}

// result is that of the first system of a pair, by a p-value that is corrected for
// so many comparisons.
func (d *testedSystems) result(setting int, p *significance.SystemPair, value float64, comparisons int) string {
	better := p.Delta > 0
	if d.settings[setting].Metric.Info().Direction == metrics.LowerIsBetter {
		better = p.Delta < 0
	}
	switch {
	case math.IsNaN(p.Delta):
		return ""
	case p.Differing == 0:
		return same
	case p.Differing < d.least(comparisons):
		return tooFew
	case p.Delta == 0 || !(value <= d.alpha):
		return tied
	case better:
		return won
	}
	return lost
}

// least is how many segments must differ for one of so many comparisons to reach
// a corrected p-value of alpha, by a test over all exchanges of them.
func (d *testedSystems) least(comparisons int) int {
	return int(math.Ceil(1 - math.Log2(d.alpha/float64(comparisons))))
}

// enough says so.
func (d *testedSystems) enough(comparisons int) string {
	return fmt.Sprintf("; too few: fewer than %d %ss differ", d.least(comparisons), d.by)
}

// What a test says of a system beside another.
const (
	won    = "win"
	tied   = "tie"
	lost   = "loss"
	same   = "equal"
	tooFew = "too few"
)

// shownP is a p-value of a pair, if there is a difference to test.
func shownP(p *significance.SystemPair, value float64) report.Value {
	if p.Differing == 0 || math.IsNaN(value) {
		return report.Null()
	}
	return report.Float(value)
}

// unit is the column of how many segments, or documents, a row is about.
func (d *testedSystems) unit() report.Column { return countColumn(d.by + "s") }

// signature is that of a system's score.
func (d *testedSystems) signature(setting, system int) string {
	return d.acc.Signature(d.scores[setting][system]).String()
}

// systems is the table of scores, intervals and ranks, the best first.
func (d *testedSystems) systems(ctx context.Context) (*report.NamedTable, error) {
	digits := d.digits()
	segments := d.unit()
	segments.Minor = true
	t := d.tested(d.keyed(textColumn("system"), numberColumn("score", digits),
		programColumn(report.Column{Name: "ci", Kind: report.KindInterval, Digits: digits}), programColumn(numberColumn("ci_mean", digits)),
		countColumn("rank"), report.Column{Name: "rank_ci", Header: "rank ci", Kind: report.KindInterval},
		numberColumn("delta", digits+1),
		report.Column{Name: "delta_ci", Header: fmt.Sprintf("%.6g%% ci", 100*(1-d.alpha)), Kind: report.KindInterval, Digits: digits + 1}, numberColumn("p", 4), textColumn("result"), segments,
		programColumn(countColumn("missing")), programColumn(textColumn("baseline")), programColumn(textColumn("status")), programColumn(textColumn("signature"))))
	for k := range d.settings {
		c, err := d.compare(ctx, k, d.against)
		if err != nil {
			return nil, err
		}
		pairs := make([]*significance.SystemPair, len(d.names))
		for i := range c.Pairs {
			pairs[c.Pairs[i].A] = &c.Pairs[i]
		}
		d.unranked(t, k, c)
		for _, i := range byRank(c.Systems) {
			s, sc := &c.Systems[i], d.scores[k][i]
			row := []any{d.names[i], scoreValue(sc)}
			if !sc.OK {
				row = append(row, nil, nil, nil, nil)
			} else {
				ci := s.Interval
				row = append(row, report.Interval(ci.Mean-ci.Half, ci.Mean+ci.Half), ci.Mean)
				if s.Rank == 0 {
					row = append(row, nil, nil)
				} else {
					row = append(row, s.Rank, report.Interval(float64(s.RankLow), float64(s.RankHigh)))
				}
			}
			switch p := pairs[i]; {
			case p == nil:
				row = append(row, nil, nil, nil, nil, s.Segments)
			case math.IsNaN(p.Delta):
				row = append(row, nil, nil, nil, nil, p.Segments)
			default:
				ci := p.Interval
				row = append(row, p.Delta, report.Interval(ci.Mean-ci.Half, ci.Mean+ci.Half), shownP(p, p.P), report.StringOrNull(d.result(k, p, p.Decisive, 1)), p.Segments)
			}
			row = append(row, sc.Missing)
			d.addTested(t, k, append(row, d.names[d.against], sc.Status.String(), d.signature(k, i))...)
		}
	}
	t.Note("delta, its interval, p and result: against %s; win and loss have a p up to %g, which no correction raises%s", d.names[d.against], d.alpha, d.enough(1))
	return t, nil
}

// unranked notes the systems that lack segments which others have.
func (d *testedSystems) unranked(t *report.NamedTable, setting int, c *significance.SystemComparison) {
	var lack []string
	for i, sc := range d.scores[setting] {
		if sc.OK && c.Systems[i].Rank == 0 {
			lack = append(lack, fmt.Sprintf("%s (%d)", d.names[i], sc.Missing))
		}
	}
	if len(lack) > 0 {
		t.Note("%s: no rank beside systems with all segments, for the number that is missing: %s", d.settings[setting], strings.Join(lack, ", "))
	}
}

// byRank are the indices of systems, the best first.
func byRank(systems []significance.SystemResult) []int {
	order := make([]int, len(systems))
	for i := range order {
		order[i] = i
	}
	last := func(rank int) int { return cmp.Or(rank, len(systems)+1) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last(systems[i].Rank), last(systems[j].Rank)) })
	return order
}

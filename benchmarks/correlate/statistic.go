package correlate

import (
	"slices"

	"github.com/refract-eval/refract/internal/english"
)

// Statistic is a measure of agreement between gold and metric scores.
type Statistic uint8

// The statistics.
const (
	StatKendall      Statistic = iota // [Kendall], tau-b
	StatSpearman                      // [Spearman]
	StatPearson                       // [Pearson]
	StatAccuracy                      // [PairwiseAccuracy] of the [SystemMeans]
	StatKendallC                      // tau-c
	StatAcc23                         // acc-23 after tie calibration, see [Calibrate]
	StatPlainAcc23                    // [PairCounts.Acc23] without tie calibration
	StatSoftAccuracy                  // soft pairwise accuracy of systems (Thompson et al., 2024)
	StatLabelsSaved                   // share of human labels that the scores save
)

// statisticInfo is all that a statistic consists of: its value, by vector or over; and a way to
// that of resamples, by pairs, row or table.
type statisticInfo struct {
	name   string
	lower  float64                              // the smallest value; the largest is 1
	vector func(gold, metric []float64) float64 // of one vector; nil if it needs a whole table
	over   func(rows []Row) Result              // instead, of all vectors of a table

	pairs *pairsStatistic                           // if the counts of pairs determine it
	row   func(r Row, gold ranking) row             // of a resampled vector
	table func(rows []Row, whole bool) (row, error) // of all resampled vectors; whole ones if drawn whole
	// systems says that the statistic compares whole systems, ungrouped, by the vectors that
	// rows makes of a table.
	systems bool
	rows    func(p *Pairs) []Row
}

var statistics = [...]statisticInfo{
	StatKendall:  {name: "kendall", lower: -1, vector: Kendall, pairs: &pairsStatistic{value: vectorCounts.tauB, scale: tauScale}},
	StatSpearman: {name: "spearman", lower: -1, vector: Spearman, row: func(r Row, gold ranking) row { return newSpearmanRow(r, gold) }},
	StatPearson:  {name: "pearson", lower: -1, vector: Pearson, row: func(r Row, _ ranking) row { return newPearsonRow(r.Gold, r.Metric, r.unit) }},
	StatAccuracy: {name: "accuracy", systems: true, over: accuracyOver, rows: func(p *Pairs) []Row {
		return []Row{systemMeans(p).ofSystems(nil, new(scratch))}
	}},
	StatKendallC:   {name: "kendall-c", lower: -1, vector: kendallC, pairs: &pairsStatistic{value: vectorCounts.tauC, classes: true}},
	StatAcc23:      {name: "acc23", over: calibratedOver, table: func(rows []Row, whole bool) (row, error) { return newCalibratedRow(rows, whole, 1) }},
	StatPlainAcc23: {name: "acc23-uncalibrated", vector: plainAcc23, pairs: &pairsStatistic{value: vectorCounts.Acc23, agree: true, scale: func(all, _, _ int64) float64 { return 1 / float64(all) }}},
	StatSoftAccuracy: {name: "soft-accuracy", systems: true, over: softOver, rows: completeRows, table: func(rows []Row, _ bool) (row, error) {
		return newSoftTable(rows), nil
	}},
	StatLabelsSaved: {name: "labels-saved", systems: true, over: labelsOver, table: newLabelsRow, rows: func(p *Pairs) []Row { return p.rows(BySystem) }},
}

// StatisticNames returns the names that [ParseStatistic] reads.
func StatisticNames() []string {
	names := make([]string, len(statistics))
	for i := range names {
		names[i] = statistics[i].name
	}
	return names
}

func (s Statistic) known() bool { return int(s) < len(statistics) }

// String returns the name that [ParseStatistic] reads.
func (s Statistic) String() string {
	return english.Name("Statistic", int(s), StatisticNames())
}

// OfSystems reports whether the statistic compares whole systems, as accuracy does: then it
// takes only the grouping None.
func (s Statistic) OfSystems() bool { return s.known() && statistics[s].systems }

// NeedsSegments reports whether a statistic of systems takes the scores of their segments, and not
// only the systems' scores.
func (s Statistic) NeedsSegments() bool { return s == StatSoftAccuracy || s == StatLabelsSaved }

// Calibrated reports whether the statistic chooses a threshold of ties by the gold scores.
func (s Statistic) Calibrated() bool { return s == StatAcc23 }

// Lowest is the smallest value that the statistic can have, -1 or 0. The largest is 1.
func (s Statistic) Lowest() float64 { return statistics[s].lower }

// ParseStatistic returns the statistic with a name, such as kendall or acc23. The error
// lists the names, and suggests the closest one.
func ParseStatistic(name string) (Statistic, error) {
	i, err := english.Index("statistic", name, StatisticNames())
	return Statistic(i), err
}

// Grouping says how a table becomes vectors.
type Grouping uint8

// The groupings.
const (
	None      Grouping = iota // one vector of all cells
	BySegment                 // one vector over systems per segment; the mean over segments
	BySystem                  // one vector over segments per system; the mean over systems
)

var groupingNames = [...]string{"none", "segment", "system"}

// GroupingNames returns the names that [ParseGrouping] reads.
func GroupingNames() []string { return slices.Clone(groupingNames[:]) }

// String returns the name that [ParseGrouping] reads.
func (g Grouping) String() string {
	return english.Name("Grouping", int(g), groupingNames[:])
}

// ParseGrouping returns the grouping with a name: none, segment or system. The error lists
// the names, and suggests the closest one.
func ParseGrouping(name string) (Grouping, error) {
	i, err := english.Index("grouping", name, groupingNames[:])
	return Grouping(i), err
}

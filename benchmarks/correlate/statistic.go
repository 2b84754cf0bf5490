package correlate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/internal/suggest"
)

// Statistic is a measure of agreement between gold and metric scores.
type Statistic uint8

// The statistics.
const (
	StatKendall  Statistic = iota // [Kendall], tau-b
	StatSpearman                  // [Spearman]
	StatPearson                   // [Pearson]
	StatAccuracy                  // [PairwiseAccuracy] of the [SystemMeans]
)

var statisticNames = [...]string{"kendall", "spearman", "pearson", "accuracy"}

// Statistics returns all statistics.
func Statistics() []Statistic {
	return []Statistic{StatKendall, StatSpearman, StatPearson, StatAccuracy}
}

// String returns the name that [ParseStatistic] reads.
func (s Statistic) String() string {
	if int(s) < len(statisticNames) {
		return statisticNames[s]
	}
	return fmt.Sprintf("Statistic(%d)", uint8(s))
}

// ParseStatistic returns the statistic of a name: kendall, spearman, pearson
// or accuracy. The error lists the names, and the nearest one where it is
// near.
func ParseStatistic(name string) (Statistic, error) {
	i, err := parseName("statistic", name, statisticNames[:])
	return Statistic(i), err
}

// Grouping says how a table becomes vectors.
type Grouping uint8

// The groupings.
const (
	None      Grouping = iota // one vector of all cells
	BySegment                 // one vector across systems per segment; the mean over segments
	BySystem                  // one vector across segments per system; the mean over systems
)

var groupingNames = [...]string{"none", "segment", "system"}

// Groupings returns all groupings.
func Groupings() []Grouping { return []Grouping{None, BySegment, BySystem} }

// String returns the name that [ParseGrouping] reads.
func (g Grouping) String() string {
	if int(g) < len(groupingNames) {
		return groupingNames[g]
	}
	return fmt.Sprintf("Grouping(%d)", uint8(g))
}

// ParseGrouping returns the grouping of a name: none, segment or system. The
// error lists the names, and the nearest one where it is near.
func ParseGrouping(name string) (Grouping, error) {
	i, err := parseName("grouping", name, groupingNames[:])
	return Grouping(i), err
}

func parseName(kind, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, errors.New(suggest.Unknown(kind, name, names))
}

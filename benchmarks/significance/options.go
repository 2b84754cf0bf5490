package significance

import (
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
)

// Options are the settings of the tests that resample.
type Options struct {
	Resamples int // how many, 1 to [correlate.MaxResamples]; 1,000 is usual
	// Block is the number of resamples after which a permutation test looks
	// whether the rest is needed: it ends where the p-value is below 0.02 or
	// above 0.5. 0 means that all are drawn; 100 is usual.
	Block int
	Seed  uint64
	Units correlate.Units // that MethodBootstrap draws and MethodRandomization exchanges
	Draws bool            // keep in [Result] what is drawn
	// OneSided tests whether the first table is better, as mt-metrics-eval does. Where
	// the direction is read off the data, its false findings are twice what alpha says.
	OneSided bool
}

// asLarge reports whether a resample under the null hypothesis differs as much as
// what was seen, in either direction unless the test is one-sided. Differences that
// are equal but for rounding count.
func (o Options) asLarge(resample, seen float64) bool {
	if o.OneSided {
		return resample >= seen
	}
	return math.Abs(resample) >= math.Abs(seen)*(1-1e-9)
}

// Early stopping ends where the p-value of a whole block is outside these.
const (
	surelySmall = 0.02
	surelyLarge = 0.5
)

func (o Options) check() error {
	if o.Resamples < 1 || o.Resamples > correlate.MaxResamples {
		return fmt.Errorf("%d resamples: want 1 to %d", o.Resamples, correlate.MaxResamples)
	}
	if o.Block < 0 {
		return fmt.Errorf("blocks of %d resamples: want 0 or more", o.Block)
	}
	return nil
}

// Result is what a test says.
type Result struct {
	Delta float64 // measure of the first table less that of the second
	// P is the p-value, in [0, 1]; NaN if undefined. That of n resamples
	// is at least 1/(n+1), what was seen being one of them.
	P         float64
	Resamples int // drawn
	Cells     int // cells with all three scores, which the test stands on
	// Draws are the differences of the resamples of a permutation test, where
	// Options.Draws asks for them.
	Draws []float64
}

// FewUnits is how many documents or segments MethodBootstrap needs: with fewer it finds
// a difference between equal metrics in 10 % of cases and more, at 0.05.
const FewUnits = 30

// Method names a test of whether the measures of two tables with the same gold scores
// differ.
type Method uint8

// The methods.
const (
	// MethodPermBoth is the permutation test PERM-BOTH (Deutsch et al., 2021,
	// "A Statistical Analysis of Summarization Evaluation Metrics using
	// Resampling Methods"). The scores of both metrics are standardized; a
	// resample exchanges the two scores of each cell with a probability of one
	// half, and the p-value is the share of resamples, the table seen being one
	// more, in which the difference of the two measures is at least the one seen.
	// StatAccuracy exchanges the
	// means of systems. The difference of correlations by ranks may differ in
	// its last digits from that without standardizing.
	MethodPermBoth Method = iota
	// MethodPermPairs exchanges outcomes of pairs in place of scores
	// (mt-metrics-eval's pairwise permutation): with a probability of one half,
	// the two metrics trade whether they find a pair of cells of a vector
	// concordant, discordant or tied. Each metric has its own threshold of
	// ties, calibrated once, for StatAcc23, and 0 for the others that are made of
	// pairs: StatKendall and StatPlainAcc23.
	//
	// Pairs of the same cells depend on each other, which the test does not
	// heed: its p-values are smaller than those of MethodPermBoth, by much
	// without grouping. Without grouping all pairs of cells are looked at once,
	// some seconds for 30,000 cells.
	MethodPermPairs
	// MethodWilliams is Williams' test (1959). It is meant for
	// StatPearson; StatSpearman and StatKendall are taken too, as is often
	// done, though it was not derived for them. The grouping is None.
	MethodWilliams
	// MethodBootstrap is the paired bootstrap (Koehn, 2004, "Statistical
	// Significance Tests for Machine Translation Evaluation"): both tables are
	// resampled over the same units, and the p-value is twice the share of
	// resamples in the smaller tail: in which the first is not larger, or not smaller.
	// It never stops early. Resamples in which one of the two is undefined are left
	// out. With fewer than FewUnits its p-values are too small.
	MethodBootstrap
	// MethodRandomization exchanges the standardized scores of all systems of a unit
	// together, such as of a document, with a probability of one half (approximate
	// randomization; Noreen, 1989). It holds where scores of a unit depend on
	// each other, under every measure. Means are taken anew after the exchange.
	MethodRandomization
)

var methodNames = []string{"perm-both", "perm-pairs", "williams", "bootstrap", "randomization"}

// MethodNames returns the names that [ParseMethod] reads.
func MethodNames() []string { return slices.Clone(methodNames) }

// String returns the name that [ParseMethod] reads.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// ParseMethod returns the method of a name. The error lists the names.
func ParseMethod(name string) (Method, error) {
	i, err := english.Index("significance test", name, methodNames)
	return Method(i), err
}

// TooLiberal reports whether the p-values of a method are too small under a measure of
// single scores, where systems share what a metric gets wrong in a segment.
func (m Method) TooLiberal(of correlate.Measure) bool {
	switch m {
	case MethodPermBoth:
		return !of.Statistic.OfSystems() && of.Grouping != correlate.BySegment
	case MethodPermPairs, MethodWilliams:
		return true
	}
	return false
}

// Takes returns an error where a method cannot test a measure.
func (m Method) Takes(of correlate.Measure) error {
	taken, what := []correlate.Statistic{correlate.StatKendall, correlate.StatAcc23, correlate.StatPlainAcc23}, "kendall or acc23"
	switch {
	case m == MethodWilliams:
		taken, what = []correlate.Statistic{correlate.StatPearson, correlate.StatSpearman, correlate.StatKendall}, "pearson, spearman or kendall without groups"
	case m != MethodPermPairs:
		return nil
	}
	if slices.Contains(taken, of.Statistic) && (m != MethodWilliams || of.Grouping == correlate.None) {
		return nil
	}
	return fmt.Errorf("%v does not test %v: use %s, or another test", m, of, what)
}

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
	Resamples int // number of resamples, 1 to [correlate.MaxResamples]; 1,000 is usual
	// Block is the number of resamples after which a permutation test checks whether it can
	// stop: it stops if the p-value is below 0.02 or above 0.5. 0 draws all resamples; 100 is
	// usual.
	Block int
	Seed  uint64
	Units correlate.Units // what MethodBootstrap draws and MethodRandomization exchanges
	Draws bool            // keep the draws in [Result]
	// OneSided tests whether the first table is better, as mt-metrics-eval does. If the
	// direction is chosen after seeing the data, false findings are twice as frequent as alpha
	// says.
	OneSided bool
}

// asLarge reports whether a resample under the null hypothesis differs at least as much as
// observed, in either direction unless the test is one-sided. Differences that are equal
// except for rounding count.
func (o Options) asLarge(resample, seen float64) bool {
	if o.OneSided {
		return resample >= seen
	}
	return math.Abs(resample) >= math.Abs(seen)*(1-1e-9)
}

// settled reports whether asLarge is the same for all values between two.
func (o Options) settled(low, high, seen float64) bool {
	large := o.asLarge(low, seen)
	return large == o.asLarge(high, seen) && (o.OneSided || !large || low*high > 0)
}

// Early stopping ends the test if the p-value of all resamples so far is outside these.
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

// Result is the result of a test.
type Result struct {
	Delta float64 // measure of the first table minus that of the second
	// P is the p-value, in [0, 1]; NaN if undefined. With n resamples it is at least 1/(n+1),
	// because the observed table counts as one.
	P         float64
	Resamples int // number drawn
	Cells     int // number of cells with all three scores, which are compared
	// Interval is one of Delta, if the caller has it; see [MatrixOf].
	Interval *correlate.Interval
	// Draws are the differences in the resamples if there were none, if Options.Draws asks for
	// them: MethodBootstrap's are less Delta. MethodWilliams has none.
	Draws []float64
}

// Method names a test of whether the measures of two tables with the same gold scores
// differ.
type Method uint8

// The methods.
const (
	// MethodAuto is the valid test of a measure: MethodBootstrap of statistics of systems or
	// domains, because their judgements are uncertain too, and otherwise MethodRandomization.
	MethodAuto Method = iota
	// MethodPermBoth is the permutation test PERM-BOTH (Deutsch et al., 2021, "A Statistical
	// Analysis of Summarization Evaluation Metrics using Resampling Methods"). The scores of
	// both metrics are standardized; a resample exchanges the two scores of each cell with
	// probability 1/2. The p-value is the share of resamples, including the observed table, in
	// which the difference of the two measures is at least the observed one. StatAccuracy
	// exchanges the means of systems. The difference of rank correlations may differ in its
	// last digits from the one without standardizing. For statistics of systems it takes the
	// judgements' means as certain.
	MethodPermBoth
	// MethodPermPairs exchanges outcomes of pairs instead of scores (mt-metrics-eval's
	// pairwise permutation): with probability 1/2, the two metrics exchange whether a pair of
	// cells of a vector is concordant, discordant or tied. For StatAcc23 each metric has its
	// own threshold of ties, calibrated once; for the other statistics of pairs, StatKendall
	// and StatPlainAcc23, it is 0.
	//
	// The test ignores that pairs of the same cells depend on each other. So its p-values are
	// smaller than those of MethodPermBoth, by much without grouping. Without grouping it
	// looks at all pairs of cells once, which takes some seconds for 30,000 cells.
	MethodPermPairs
	// MethodWilliams is Williams' test (1959). It is meant for StatPearson; StatSpearman and
	// StatKendall are often used with it too, and are accepted, though it was not derived for
	// them. The grouping is None.
	MethodWilliams
	// MethodBootstrap is the paired bootstrap (Koehn, 2004, "Statistical Significance Tests
	// for Machine Translation Evaluation"): both tables are resampled over the same units, and
	// the p-value is twice the share of resamples in the smaller tail, those in which the
	// first is not larger, or not smaller, raised for few units as [correlate.Resamples] widen
	// their intervals: it is small if the interval excludes 0. It never stops early. Resamples
	// in which one of the two is undefined are left out.
	MethodBootstrap
	// MethodRandomization exchanges the standardized scores of all systems of a unit, such as
	// a document, together with probability 1/2 (approximate randomization; Noreen, 1989). It
	// is valid if scores of a unit depend on each other. It takes no statistic of systems or
	// domains: a mean of the scores of two metrics has less of the stable errors of either, so
	// that nearly all metrics would differ.
	MethodRandomization
)

var methodNames = []string{"auto", "perm-both", "perm-pairs", "williams", "bootstrap", "randomization"}

// MethodNames returns the names that [ParseMethod] reads.
func MethodNames() []string { return slices.Clone(methodNames) }

// String returns the name that [ParseMethod] reads.
func (m Method) String() string {
	return english.Name("Method", int(m), methodNames)
}

// ParseMethod returns the method with a name. The error lists the names.
func ParseMethod(name string) (Method, error) {
	i, err := english.Index("significance test", name, methodNames)
	return Method(i), err
}

// ofSystems reports whether a measure of scores at a level compares systems, or systems in
// domains.
func ofSystems(of correlate.Measure, level correlate.Level) bool {
	return of.Statistic.OfSystems() || level >= correlate.DomainLevel
}

// Doubt says what a method's p-values of a measure leave out, "" for nothing.
func (m Method) Doubt(of correlate.Measure, level correlate.Level) string {
	switch {
	case m == MethodAuto || m == MethodBootstrap || m == MethodRandomization:
	case ofSystems(of, level):
		return "takes the judgements of systems as certain, as WMT does"
	case m != MethodPermBoth || of.Grouping != correlate.BySegment:
		return "takes cells of a segment as independent"
	}
	return ""
}

// For returns the method that tests a measure of scores at a level: itself, or the one that
// MethodAuto stands for. The error says why the measure cannot be tested by it.
func (m Method) For(of correlate.Measure, level correlate.Level) (Method, error) {
	taken, what := []correlate.Statistic{correlate.StatKendall, correlate.StatAcc23, correlate.StatPlainAcc23}, "kendall or acc23"
	switch m {
	case MethodAuto:
		if ofSystems(of, level) {
			return MethodBootstrap, nil
		}
		return MethodRandomization, nil
	case MethodRandomization:
		if ofSystems(of, level) {
			return m, fmt.Errorf("%v does not test %v of systems: means of the scores of two settings have less of the stable errors of either, so that equally good ones would differ; use auto, or another test", m, of)
		}
		return m, nil
	case MethodWilliams:
		taken, what = []correlate.Statistic{correlate.StatPearson, correlate.StatSpearman, correlate.StatKendall}, "pearson, spearman or kendall without groups"
	case MethodPermPairs:
	default:
		return m, nil
	}
	if slices.Contains(taken, of.Statistic) && (m != MethodWilliams || of.Grouping == correlate.None) {
		return m, nil
	}
	return m, fmt.Errorf("%v does not test %v: use %s, or another test", m, of, what)
}

// Package significance tests whether one metric agrees better with human scores than
// another, and whether one system is better than another.
//
//  1. [Compare] tests two tables of package correlate, with the same gold scores, under a
//     measure, by the test that a [Method] names.
//  2. [Matrix] compares all settings with each other, from the best down. [Holm] corrects its
//     p-values for their number, clusters turn them into ranks, and [AverageRanks] summarises
//     several tasks.
//
// [Systems.Compare] compares systems by the statistics behind their scores, with
// sacreBLEU's tests: intervals, ranks, and pairs with p-values. [Labels.Mean] estimates their mean
// judgements from few judged outputs and a metric's scores of all.
//
// P-values of metrics are two-sided, unless Options.OneSided asks for mt-metrics-eval's.
// MethodRandomization is the test that keeps its level if the systems of a segment, or the
// segments of a document, share a metric's errors: TestEqualMetrics simulates it. Each
// resample has its own random numbers, made from the seed and its number, and early
// stopping is decided at the ends of blocks, so results are the same to the byte on any
// number of cores.
//
// # Which test
//
// [MethodAuto] chooses. Randomization (Noreen, 1989) exchanges the scores of two metrics for a whole
// unit, such as a document, and counts how often chance gives as large a difference. PERM-BOTH
// (Deutsch et al., 2021) exchanges cell by cell and takes cells as independent, which makes its
// p-values too small where they are not. The paired bootstrap (Koehn, 2004) draws units again, and
// fits statistics of systems. With k pairs of settings, Holm's method (1979) multiplies the
// smallest p-value by k, the next by k-1, and so on: three of 0.01, 0.02 and 0.04 become 0.03, 0.04
// and 0.04.
package significance

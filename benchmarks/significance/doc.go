// Package significance tests whether one metric agrees better with human
// scores than another, and whether one system is better than another.
//
//  1. [Compare] tests two tables of package correlate, which hold the same gold
//     scores, under a measure, by the test that a [Method] names.
//  2. [Matrix] compares all settings with each other, from the best down.
//     [Holm] corrects its p-values for their number, clusters turn them
//     into ranks, and [AverageRanks] sums several tasks up.
//
// [Systems.Compare] compares systems by the statistics that their scores are made of,
// with the tests of sacreBLEU: intervals, ranks, and pairs with p-values.
//
// P-values of metrics are two-sided, unless Options.OneSided asks for mt-metrics-eval's.
// MethodRandomization is the test that keeps to its level where the systems of a segment,
// or the segments of a document, share what a metric gets wrong: TestEqualMetrics
// simulates it. Each resample has random numbers of its own, made from the seed and
// its number, and early stopping is decided at the ends of blocks, so that
// results are the same to the byte on any number of cores.
package significance

// Package correlate measures how well the scores of a metric agree with human scores.
//
// There are two layers:
//
//  1. [Kendall], [Spearman], [Pearson] and [PairwiseAccuracy] are plain functions over
//     aligned slices; [CountPairs] counts the pairs behind the variants of Kendall's tau, and
//     [Calibrate] finds the best threshold of ties for a metric. They take only finite
//     numbers; the caller leaves out missing ones.
//  2. [Pairs] is a table segments × systems of human ("gold") and metric scores, each with a
//     mask of those present; [Pairs.Means] is the table of documents, domains or whole
//     systems. A [Measure] is a [Statistic] under a [Grouping]; applied to a table, it
//     reports its value and what was left out. [Bootstrap] returns the [Resamples] of
//     segments or documents, which have confidence intervals, and
//     [Exchange] the values of two metrics after exchanges of their scores. Tests of one
//     metric against another are in package significance.
//
// The correlations equal SciPy's within 1e-12. The rules for grouping, missing scores,
// constant vectors, ties and their calibration are those of mt-metrics-eval, the library of
// the WMT metrics task. An undefined value is NaN, never 0.
package correlate

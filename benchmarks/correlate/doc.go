// Package correlate measures how well the scores of a metric agree with human
// scores.
//
// There are two layers:
//
//  1. [Kendall], [Spearman], [Pearson] and [PairwiseAccuracy] are
//     plain functions over aligned slices; [CountPairs] counts what the
//     variants of Kendall's tau are made of, and [Calibrate] finds the
//     threshold of ties that suits a metric best. They take finite numbers
//     only; what is missing must be left out by the caller.
//  2. [Pairs] is a table segments × systems of human ("gold") and metric
//     scores, each with a mask of what is present, and [Pairs.Means] that of
//     documents, domains or whole systems. A [Measure], a [Statistic] under a
//     [Grouping], applies to a table and reports, beside the value, what was
//     left out. [Bootstrap] gives the values of resamples of segments,
//     documents or systems, [Percentiles] of which are confidence intervals, and
//     [Exchange] the values of two metrics after exchanges of their scores. Tests
//     of one metric against another are in package significance.
//
// The correlations equal those of SciPy within 1e-12, the rules for grouping,
// missing scores, constant vectors, ties and their calibration those of
// mt-metrics-eval, the library of the WMT metrics task. An undefined value is
// NaN, never 0.
package correlate

// Package correlate measures how well the scores of a metric agree with human
// scores.
//
// There are two layers:
//
//  1. [Kendall], [Spearman], [Pearson] and [PairwiseAccuracy] are plain
//     functions over two aligned slices. They take finite numbers only; what
//     is missing must be left out by the caller.
//  2. [Pairs] is a table segments × systems of human ("gold") and metric
//     scores, each with a mask of what is present. [Correlate] applies a
//     [Statistic] to the table under a [Grouping] and reports, beside the
//     value, what was left out. [Bootstrap] gives a confidence interval by
//     resampling segments.
//
// The correlations equal those of SciPy within 1e-12, the rules for grouping,
// missing scores, constant vectors and ties those of mt-metrics-eval, the
// library of the WMT metrics task. An undefined value is NaN, never 0.
package correlate

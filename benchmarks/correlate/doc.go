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
//
// # The method
//
// Two outputs form a pair; it is concordant if people and the metric put it in the same order.
// Kendall's tau-b is concordant minus discordant pairs, over the geometric mean of the pairs that
// are not tied for either (Kendall, 1945). Flattened, all outputs form pairs, so that a hard
// segment counts against an easy one; grouped by segment, only outputs of one source do, and the
// value is the mean over segments. Systems are compared by pairwise accuracy: the share of pairs
// of systems in the order of people (Kocmi et al., 2021, "To Ship or Not to Ship").
//
//	human  -5 -5 -1 0 0
//	metric 12.1 20.4 31.0 28.5 40.2    tau-b 0.6708
//
// Intervals are percentiles of the bootstrap, expanded for few units (Hesterberg, 2015).
package correlate

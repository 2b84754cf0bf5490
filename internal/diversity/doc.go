// Package diversity measures how different the texts of a segment are, such
// as the variants of a reference.
//
// A [Measure] gives one number per segment:
//
//   - [Semantic] is the measure of Div-Ref (section 3.2): the mean cosine
//     distance between the vectors of all pairs. It needs an embedder.
//   - [Self] scores each text against all the others with a metric's own rule
//     for several references: self-BLEU (Zhu et al., 2018) and its relatives.
//   - [Distinct] is the share of n-grams that are distinct (Li et al., 2016).
//
// [Of] averages them over the segments of a dataset, with bootstrap intervals,
// and counts what did not enter. [Set.Minus] compares two sets of the same
// segments.
package diversity

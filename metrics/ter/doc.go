// Package ter implements the Translation Edit Rate of Snover et al., "A Study
// of Translation Edit Rate with Targeted Human Annotation" (AMTA 2006), with
// the numbers of sacreBLEU 2.6.0.
//
// TER is the number of edits that turn a hypothesis into a reference, over
// the length of the reference in words, times 100. An edit inserts, deletes
// or substitutes one word, or moves a run of words elsewhere. The least
// number of edits with moves is out of reach, so moves are found greedily:
//
//  1. The edit distance without moves is computed within a beam around the
//     diagonal, and its path aligns the hypothesis with the reference.
//  2. Every run of words that the two texts share, and that is wrong at both
//     places, is a candidate to be moved near its place in the reference.
//  3. The candidate that lowers the edit distance most is applied and costs
//     one edit. Repeat from 1 until none lowers it.
//
// The numbers depend on the limits of that search, which are part of the
// metric: see [Metric].
//
// A text is tokenized once per block and its words become small integers. A
// candidate is evaluated without computing an edit distance: with the
// distances of all prefixes and of all suffixes at hand, only the rows
// between the first and the last word that the move touches are new.
package ter

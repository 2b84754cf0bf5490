// Package selection keeps, of many variants of a text, the few that cover
// most.
//
// There are two layers:
//
//  1. [Farthest] and [Facility] are plain functions over a [Matrix] of
//     similarities. They return all candidates in the order in which they are
//     chosen, so that every prefix is the selection of that size.
//  2. A [Selector] applies a [Method] to the variants of segments, with
//     similarities of n-grams ([NGrams]) or of vectors ([Vectors]). [Keep]
//     moves what was not chosen to the rejected variants.
//
// The original references count as chosen already: a variant is worth what it
// adds to them. Everything is deterministic, and of equals the first is taken.
package selection

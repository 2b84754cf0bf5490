// Package selection selects a few of many variants of a text, so that they
// cover the others best.
//
// There are two layers:
//
//  1. farthest and facility are plain functions on a matrix of
//     similarities. They return all candidates in the order of choice, so
//     every prefix is the selection of that size.
//  2. A [Selector] applies a [Method] to the variants of segments, with
//     similarities of n-grams ([NGrams]) or of vectors ([Vectors]). [Keep]
//     moves the other variants to the rejected ones.
//
// The original references count as chosen already, so a variant is valued for
// what it adds to them. Everything is deterministic; of equal candidates the
// first is chosen.
//
// A [Diversity] measures how different the variants of segments are, by distinct n-grams and
// self-BLEU.
package selection

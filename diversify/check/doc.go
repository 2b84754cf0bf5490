// Package check decides which answers of a model may serve as references.
//
// A [Checker] is made once; it gives a [Segment] for each segment of a data
// set, and the Segment judges the answers to that segment's references in
// order:
//
//  1. Cleaning finds the part of an answer that corresponds to the reference, by
//     the words they share, and takes off the rest: thoughts, tokens, JSON,
//     markup, talk, alternatives, quotes. A step never takes what the
//     reference has as well, and cleaning a clean text changes nothing.
//  2. An answer that the token limit cut, that was withheld, that is empty,
//     that refuses the task or speaks of it, that copies an original
//     or repeats an accepted answer, that is in another language, much
//     shorter or longer than the reference, has other numbers, or is likely
//     not the rewriting and all of it, gets the
//     name of that check as its verdict. The first check that finds something
//     decides.
//  3. Everything else is accepted, and later answers are compared with it.
//
// Every check goes by the reference at hand rather than by the text alone: an
// apology is no refusal where the reference apologizes, and a text without a
// full stop is not cut where the reference has none. All is deterministic and
// looks at nothing but the texts, with one exception: the language check asks
// a [Detector].
package check

// Package check decides which answers of a model can be used as references.
//
// A [Checker] is created once. It returns a [Segment] for each segment of a
// dataset, which judges the answers to that segment's references in order:
//
//  1. Cleaning finds the part of an answer that corresponds to the reference, by
//     the words that they share, and removes the rest: thoughts, tokens, JSON,
//     markup, talk, alternatives, quotes. A step never removes what the
//     reference has, too, and cleaning a clean text changes nothing.
//  2. Checks reject an answer if it was cut by the token limit, withheld or
//     empty; if it refuses the task or talks about it; if it copies an original
//     or repeats an accepted answer; if it is in another language, much shorter
//     or longer than the reference, or has other numbers; or if it is probably
//     not exactly the rewriting. The first check that finds something gives its
//     name as the verdict.
//  3. Everything else is accepted, and later answers are compared with it.
//
// Every check takes the reference into account: an apology is not a refusal if
// the reference apologises, and a text without a full stop is not cut if the
// reference has none. Everything is deterministic and depends only on the texts,
// with one exception: the language check asks a [Detector].
package check

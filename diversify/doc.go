// Package diversify turns one reference into many: a model rewrites every
// reference of a dataset once for each prompt, and the answers become variants
// of the segment.
//
// A run of [Expander.Expand] passes a stream of segments through these steps:
//
//  1. Read: segments come from the dataset, one at a time.
//  2. Look up: the requests of a segment are written down, and the store is
//     asked for each. Several segments are looked up at once.
//  3. Call: what the store lacks is asked of the model, in the dataset's
//     order and up to a number of calls at once, whichever segments they belong
//     to. Equal requests in flight are one call. An answer is stored, and
//     then read back from the store.
//  4. Yield: segments whose answers are complete leave in the dataset's order.
//
// With Config.Complete, segments that were expanded before are asked only for the
// variants that they lack.
//
// A bounded number of segments is between the first step and the last.
//
// What a run gives depends on the store's contents and the model's answers
// alone. A second run over the same store makes no call, and a run that was
// killed goes on where its store ends.
//
// The method and the prompts are those of Div-Ref: Tang et al., "Not All
// Metrics Are Guilty: Improving NLG Evaluation by Diversifying References",
// NAACL 2024.
package diversify

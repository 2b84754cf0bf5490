// Package diversify turns one reference into many: a model rewrites every
// reference of a dataset with each prompt, and the answers become variants of
// the segment.
//
// [Expander.Expand] passes a stream of segments through these steps:
//
//  1. Read segments from the dataset, one at a time.
//  2. Look up the requests of a segment in the store. Several segments are
//     looked up at once.
//  3. Ask the model for answers that are not stored, in the dataset's order. The
//     number of concurrent calls is bounded, across segments. Equal requests in
//     flight share one call. An answer is stored and then read back from the
//     store.
//  4. Yield segments whose answers are complete, in the dataset's order.
//
// A bounded number of segments is in progress at a time.
//
// With Config.Complete, a segment that was expanded before is asked only for
// the variants that it lacks.
//
// The result depends only on the stored answers and the model's new ones. A
// second run over the same store makes no call, and a run that was killed
// continues from the stored answers.
//
// The method and the prompts are those of Div-Ref: Tang et al., "Not All
// Metrics Are Guilty: Improving NLG Evaluation by Diversifying References",
// NAACL 2024.
//
// # What becomes a variant
//
// An answer is a candidate, not yet a reference. Package check removes what a model wraps around
// it ("Here is a paraphrase: …") and rejects what is no rewriting: a refusal, a copy, another
// language, a text of another length. Package alarm names what an accepted variant may have
// changed in meaning, and a judge ([Equivalence]) can be asked whether it did. Rejected answers
// stay in the segment with their reason, so that checks of a later version can look again.
package diversify

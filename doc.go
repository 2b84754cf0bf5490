// Package refract evaluates generated text against many references.
//
// A reference is only one of many good answers. Scored against it, a good output is
// penalised just for being worded differently. Refract lets a model rewrite the
// references (Div-Ref), scores every system against all of them, and measures how well
// the scores agree with human judgements. There are five steps:
//
//  1. A [Dataset] yields segments: sources, references, hypotheses by system
//     and human judgements. Package benchmarks/dataset reads them from files.
//  2. Package diversify adds variants of the references. It asks a model
//     through package llm, or reads answers that package cache has stored.
//  3. An [Engine] scores every hypothesis against every reference with the
//     given metrics; see package metrics. The result is a matrix with a status
//     in every cell.
//  4. A [Reducer] aggregates the matrix over references with an aggregator
//     of package aggregate; [Systems] combines the results into scores of systems.
//  5. Packages benchmarks/experiment and benchmarks/correlate compare the
//     scores with the judgements.
//
// A missing text is not an empty text, and a missing score is not 0. Both are marked
// as missing, and every number comes with a count of what is missing from it.
//
// # An example
//
// A metric scores an output 20, 60 and 40 against three references; a fourth one is missing. By
// max the output has 60, by mean 40, and both say that one of four scores is missing.
//
//	scores, err := refract.Score(ctx, segments,
//		refract.Setting{Metric: chrf.Default(), Aggregator: aggregate.Max})
//	fmt.Println(scores.Systems["a"], scores.Signature)
//
// Whether the maximum, the mean or one reference agrees best with people depends on the metric
// and the data; package benchmarks/experiment answers it for yours.
package refract

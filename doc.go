// Package refract evaluates generated text against many references.
//
// A reference is one of many good answers; scored against it alone, a system
// is punished for its own wording. Refract has a model rewrite the references
// (Div-Ref), scores every system against all of them, and tells how well the
// scores agree with people. The line has five steps:
//
//  1. A [Dataset] yields segments: sources, references, hypotheses by system
//     and human judgements. Package benchmarks/dataset reads them from files.
//  2. Package diversify adds variants of the references, from a model by way
//     of package llm, or from package cache.
//  3. An [Engine] scores every hypothesis against every reference with the
//     metrics that it is given, see package metrics. The result is a matrix
//     with a status in every cell, which package matrix stores and reads.
//  4. A [Reducer] aggregates the matrix over references with an aggregator
//     of package aggregate; [Systems] goes on to scores of systems.
//  5. Packages benchmarks/agreement and benchmarks/correlate compare the
//     scores with the judgements.
//
// A missing text is not an empty one, and a score that is missing is not 0:
// both are marked, and every number comes with counts of what it lacks.
package refract

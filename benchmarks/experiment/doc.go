// Package experiment compares scores with human judgements: which references,
// metrics and aggregators agree best with people, by how much, and how sure that
// is. The commands compare, report and experiment are plans and views of it, so
// that one question has one answer.
//
//  1. A [Plan] says what is asked. [Parse] reads one from YAML.
//  2. A [Runner] reads its datasets, scores every metric against every reference
//     in one pass, or takes scores made elsewhere, and takes every set of
//     references as columns of them.
//  3. A [Store] keeps scores, statistics, intervals and tests, each by the hash
//     of what it is made of, so that only what changed is computed again.
//  4. The [Result] is plain data: rows, ranks, differences, curves, prompts,
//     tasks, rankings and [Verdict]s in plain language. [Result.Claim] is its claim,
//     [Result.Tables] makes tables of it, and [WriteMarkdown] a document.
//
// A run with the same plan, data and version gives the same Result to the byte,
// whatever the store holds; what was reused is told separately, in [Usage].
package experiment

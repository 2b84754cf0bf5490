// Package experiment compares scores with human judgements: which references, metrics and
// aggregators agree best with people, by how much, and how certain that is. The commands
// compare, report and experiment are plans and views of it, so the same question always has
// the same answer.
//
//  1. A [Plan] is the question. [Parse] reads one from YAML.
//  2. A [Runner] reads its datasets and scores every metric against every reference in one
//     pass, or takes existing scores. Every set of references is a choice of their columns.
//  3. The [Result] is plain data: rows, ranks, differences, curves, prompts, tasks and
//     rankings. The command turns it into tables, figures and sentences.
//
// A run with the same plan, data and version gives the same Result to the byte, whatever is
// in the store of scores ([refract.Options].Store) that saves it from asking servers again.
//
// # The method
//
// A setting is a metric, a set of references and an aggregator. Its agreement with people is a
// statistic of package correlate over the cells that people judged. Its interval is a bootstrap
// that draws whole documents where they are known, as segments of a document are not independent.
// Two settings are compared over their common cells: the interval is of the paired difference, in
// the same resamples, and the p-value of a test of package significance, corrected by Holm's method
// over the pairs of a metric under a statistic. A difference is significant if both agree, and
// undecided where there are too few documents or resamples for any p-value to be small enough.
package experiment

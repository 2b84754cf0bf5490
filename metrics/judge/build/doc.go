// Package build makes what judges are trained on, and tells how good their
// reports are: the recipes of InstructScore and TIGERScore as data.
//
//  1. A [Recipe] is a YAML file with the tasks, their kinds of errors and the
//     sampling of each step, and a template for every prompt. Users may replace
//     each file.
//  2. A [Teacher] asks a model, by package llm/ask: what is stored is never asked
//     for again, so that a run that ended early goes on where it was.
//  3. A builder such as [InstructScore] makes an [Item] of every answer. Rules
//     with names say which items are left out; none is dropped without one.
//  4. A [Set] writes the items as a folder: examples in a form that trainers
//     read, split by source text, all items with their rules, and a card.
//
// The prompt of an example is, byte for byte, what the metric sends when it is
// served, and its completion is what the metric's parser reads.
package build

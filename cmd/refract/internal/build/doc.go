// Package build makes the data that judges are trained on, by three recipes:
// MetricInstruct, InstructScore's synthesis, and refinement by feedback.
//
//  1. A [Recipe] is a YAML file with tasks, types of errors and the sampling of each
//     step, and a template for every prompt. Users may replace each file.
//  2. A [Set] asks models through package llm/ask, which never asks for an answer
//     that is stored. So a run that ended early continues where it stopped.
//  3. Every answer becomes an [Item]. Rules with names leave items out; none is
//     dropped without one.
//  4. The Set writes a folder: examples in a form that trainers read, split by source
//     text; all items with their rules; and a card.
//
// The prompt of an example is, byte for byte, what the metric sends when it is
// served, and its completion is what the metric's parser reads.
package build

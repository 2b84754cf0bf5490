// Package program makes metrics of programs, which a spec "exec:PROGRAM ARG…"
// names: anything that reads requests from standard input and writes answers to
// standard output, a line of JSON each.
//
//  1. The program says hello, with what it declares of itself (hello.go).
//  2. A pool of processes of it scores batches of segments (program.go); one that
//     dies is started again with its batch, and none outlives the metric
//     (process.go).
//  3. Answers become matrices, or an error that quotes them (answer.go).
//
// The protocol is in docs/how-to/programs.md; refract_metric.py speaks it for programs in
// Python. All that a program writes is untrusted.
package program

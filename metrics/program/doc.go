// Package program runs programs as metrics. A spec "exec:PROGRAM ARG…" names any program
// that reads requests from standard input and writes answers to standard output, one line
// of JSON each.
//
//  1. The program starts with a hello line that declares the metric (hello.go).
//  2. A pool of its processes scores batches of segments (program.go). A process that
//     dies is replaced and its batch repeated, and none outlives the metric
//     (process.go).
//  3. Answers become matrices, or an error that quotes them (answer.go).
//
// The protocol is in docs/reference/protocols.md; refract_metric.py implements it for programs
// in Python. All output of a program is untrusted.
package program

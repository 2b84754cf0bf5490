// Package conformance holds cases of multi-reference scoring with the values that
// sacreBLEU gives: ragged and missing references, empty texts, layouts taken for one
// another, duplicates, n-grams that complement each other, ties of length, systems
// without an output.
//
//  1. generate.py writes cases.jsonl with sacreBLEU, and says what its fields are.
//  2. The test here runs every case through Refract's engine.
//  3. run.py runs every case through other packages, as their users would, and
//     results.json is what it last found; docs/conformance.md shows it.
package conformance

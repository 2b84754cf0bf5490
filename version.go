package refract

import "github.com/refract-eval/refract/metrics"

// Version of the program. It ends every signature.
const Version = "0.1.0"

// Scored says what a score is of, as far as its signature states it.
type Scored struct {
	References string // their number: "11", or "var" where it differs between segments
	Aggregator string // over references; "" where there is none
	Set        string // name of the set of references, see Identity; "" where unknown
	// First is the name of the set that the first references alone make, of
	// a cell that single may take; "" otherwise.
	First string
}

// FullSignature is a metric's signature between the number of references,
// and the aggregator, the set of references and the version.
func FullSignature(s metrics.Signature, of Scored) metrics.Signature {
	full := metrics.Signature{{Key: "nrefs", Value: of.References}}
	full = append(full, s...)
	if of.Aggregator != "" {
		full = full.With("agg", of.Aggregator)
	}
	if of.Set != "" {
		full = full.With("set", of.Set)
	}
	if of.First != "" {
		full = full.With("first", of.First)
	}
	return full.With("version", Version)
}

package refract

import "github.com/refract-eval/refract/metrics"

// Version is the version of the program. It ends every signature.
const Version = "0.1.0"

// Scored holds the parts of a signature that describe the references of a score.
type Scored struct {
	References string // their number: "11", or "var" if it differs between segments
	Aggregator string // over references; "" if there is none
	Set        string // name of the set of references, see Identity; "" if unknown
	// First is the name of the set of first references, for a cell that single may
	// use; "" otherwise.
	First string
}

// FullSignature returns the number of references, the metric's signature, the
// aggregator, the set of references and the version, in this order.
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

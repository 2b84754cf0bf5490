package refract

import "github.com/refract-eval/refract/metrics"

// Version of the program. It ends every signature.
const Version = "0.1.0"

// FullSignature is a metric's signature between the number of references
// ("11", or "var" where it differs between segments) and the aggregator ("",
// where there is none) with the version.
func FullSignature(s metrics.Signature, references, aggregator string) metrics.Signature {
	full := metrics.Signature{{Key: "nrefs", Value: references}}
	full = append(full, s...)
	if aggregator != "" {
		full = full.With("agg", aggregator)
	}
	return full.With("version", Version)
}

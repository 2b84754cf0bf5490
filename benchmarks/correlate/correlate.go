package correlate

// Result is a statistic of a table and what it stands on.
type Result struct {
	Value float64 // NaN if undefined
	// N is the number of score pairs that the value stands on; for
	// statistics of systems, the number of pairs of systems.
	N int
	// Groups is the number of vectors that the value stands on (1 without
	// grouping); for statistics of systems, the number of systems compared.
	Groups int
	// Dropped is the number of vectors left out because they have fewer than
	// two pairs or the statistic is not defined for them, as of constant
	// vectors; for statistics of systems, that of systems without a pair of scores.
	Dropped int
	// Epsilon is the threshold of ties that was chosen, where the statistic
	// is calibrated.
	Epsilon float64
}

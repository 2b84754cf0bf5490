package correlate

// Result is a statistic of a table and what it is based on.
type Result struct {
	Value float64 // NaN if undefined
	// N is the number of score pairs used; for statistics of systems, the number of pairs of
	// systems.
	N int
	// Groups is the number of vectors used (1 without grouping); for statistics of systems,
	// the number of systems compared.
	Groups int
	// Dropped is the number of vectors left out because they have fewer than two pairs or the
	// statistic is undefined for them, for example if constant; for statistics of systems, the
	// number of systems without a pair of scores.
	Dropped int
	// Epsilon is the chosen threshold of ties, if the statistic is calibrated.
	Epsilon float64
}

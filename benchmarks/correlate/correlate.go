package correlate

// Result is a statistic of a table and what it stands on. The counts of
// correlations add up: N + DroppedPairs + MissingGold + MissingMetric, and the
// cells with neither score, are all cells of the table.
type Result struct {
	Value float64 // NaN if undefined
	// N is the number of score pairs that the value stands on; for
	// statistics of systems, the number of pairs of systems.
	N int
	// MissingMetric counts the cells with a gold score but no metric score,
	// MissingGold those with a metric score but no gold score. Both kinds are
	// left out.
	MissingMetric, MissingGold int
	// Groups is the number of vectors that the value stands on (1 without
	// grouping); for statistics of systems, the number of systems compared.
	Groups int
	// Dropped is the number of vectors left out because they have fewer than
	// two pairs or the statistic is not defined for them, as of constant
	// vectors; DroppedPairs is the number of score pairs in them. For
	// statistics of systems, Dropped counts systems without a pair of scores,
	// and for soft accuracy DroppedPairs those of segments that lack a system.
	Dropped, DroppedPairs int
	// Epsilon is the threshold of ties that was chosen, where the statistic
	// is calibrated.
	Epsilon float64
}

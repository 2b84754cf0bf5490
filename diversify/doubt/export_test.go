package doubt

type (
	Features = features
	Weights  = weights
)

var (
	FeaturesOf = featuresOf
	WithVector = withVector
	ByWords    = byWords
	ByVectors  = byVectors
	Names      = [len(features{})]string{"", "repeated", "pairs", "added", "lost", "shorter", "names", "denied", "far", "exchanged", "distance"}
)

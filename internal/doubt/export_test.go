package doubt

type (
	Features = features
	Weights  = weights
)

var (
	FeaturesOf = featuresOf
	ByWords    = byWords
	Names      = [len(features{})]string{"", "repeated", "pairs", "added", "lost", "shorter", "names", "denied", "far"}
)

//go:build lean

package language

const ModelsName = ""

type models struct{}

func (*models) probabilities(string, []string) []float64 { return nil }

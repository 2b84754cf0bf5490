//go:build nolingua

package language

// modelSource is empty: there are no models.
const modelSource = ""

func newModel([]string) func(string) []float64 { return nil }

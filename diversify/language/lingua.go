//go:build !nolingua

package language

import (
	"strings"

	"github.com/pemistahl/lingua-go"
)

// modelSource names the models in signatures: those of trigrams, which take a
// tenth of the memory that all models take.
const modelSource = "lingua-go-1.4.0-trigrams"

// newModel returns what computes the probabilities of languages for a text, in
// their order. The models are loaded by the first text.
func newModel(codes []string) func(text string) []float64 {
	languages := make([]lingua.Language, len(codes))
	index := map[lingua.Language]int{}
	for i, c := range codes {
		languages[i] = lingua.GetLanguageFromIsoCode639_1(lingua.GetIsoCode639_1FromValue(strings.ToUpper(c)))
		index[languages[i]] = i
	}
	d := lingua.NewLanguageDetectorBuilder().FromLanguages(languages...).WithLowAccuracyMode().Build()
	return func(text string) []float64 {
		p := make([]float64, len(codes))
		for _, v := range d.ComputeLanguageConfidenceValues(text) {
			p[index[v.Language()]] = v.Value()
		}
		return p
	}
}

//go:build !nolingua

package language

import (
	"strings"

	"github.com/pemistahl/lingua-go"
)

// modelSource names the models in signatures.
const modelSource = "lingua-go-1.4.0"

type linguaModel struct{ d lingua.LanguageDetector }

func newModel(codes []string) model {
	languages := make([]lingua.Language, len(codes))
	for i, c := range codes {
		languages[i] = lingua.GetLanguageFromIsoCode639_1(lingua.GetIsoCode639_1FromValue(strings.ToUpper(c)))
	}
	return linguaModel{lingua.NewLanguageDetectorBuilder().FromLanguages(languages...).Build()}
}

func (m linguaModel) detect(text string) (string, float64) {
	values := m.d.ComputeLanguageConfidenceValues(text)
	return strings.ToLower(values[0].Language().IsoCode639_1().String()), values[0].Value() - values[1].Value()
}

//go:build !lean

package language

import (
	"strings"
	"sync"

	"github.com/pemistahl/lingua-go"
)

// ModelsName names the models in signatures: the trigram models, which take a tenth of
// the memory of all models. They add 130 MB to a program; the build tag lean leaves them
// out, and then the name is "".
const ModelsName = "lingua-go-1.4.0-trigrams"

// models choose between languages of a script. Models are loaded when first needed, and
// kept.
type models struct {
	mu        sync.Mutex
	detectors map[string]lingua.LanguageDetector // by the codes
}

// probabilities returns the probability, from 0 to 1, of each language for a text, in the order
// of codes. codes must be two or more languages of one script.
func (m *models) probabilities(text string, codes []string) []float64 {
	key := strings.Join(codes, " ")
	m.mu.Lock()
	d := m.detectors[key]
	if d == nil {
		var known []lingua.IsoCode639_1
		for _, c := range codes {
			known = append(known, lingua.GetIsoCode639_1FromValue(strings.ToUpper(c)))
		}
		d = lingua.NewLanguageDetectorBuilder().FromIsoCodes639_1(known...).WithLowAccuracyMode().Build()
		if m.detectors == nil {
			m.detectors = map[string]lingua.LanguageDetector{}
		}
		m.detectors[key] = d
	}
	m.mu.Unlock()
	byCode := map[string]float64{}
	for _, v := range d.ComputeLanguageConfidenceValues(text) {
		byCode[strings.ToLower(v.Language().IsoCode639_1().String())] = v.Value()
	}
	p := make([]float64, len(codes))
	for i, c := range codes {
		p[i] = byCode[c]
	}
	return p
}

//go:build !lean

package language

import (
	"strings"
	"sync"

	"github.com/pemistahl/lingua-go"
)

// ModelsName names the models in signatures: those of trigrams, which take a tenth of
// the memory that all models take. They add 130 MB to a program; the build tag lean leaves
// them out, and the name is "".
const ModelsName = "lingua-go-1.4.0-trigrams"

// models choose between the languages of a script. Those of some languages are loaded by
// their first text, and kept.
type models struct {
	mu        sync.Mutex
	detectors map[string]lingua.LanguageDetector // by the codes
}

// probabilities returns how probable languages are for a text: a number from 0 to 1 for
// each of the codes, two or more of one script, in their order.
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

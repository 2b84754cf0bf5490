// Package lingua tells languages apart by the models of lingua-go. They add 130 MB to
// a program that imports it.
package lingua

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pemistahl/lingua-go"

	"github.com/refract-eval/refract/diversify/language"
)

// name is that of the models in signatures: those of trigrams, which take a tenth of
// the memory that all models take.
const name = "lingua-go-1.4.0-trigrams"

// Models implements [language.Models]. Those of some languages are loaded by their
// first text, and kept.
type Models struct {
	mu   sync.Mutex
	sets map[string]*set // by the codes
}

// set is what chooses between some languages.
type set struct {
	detector lingua.LanguageDetector
	index    map[lingua.Language]int // of the codes
}

var _ language.Models = (*Models)(nil)

// New returns the models. It loads none.
func New() *Models { return &Models{sets: map[string]*set{}} }

// Name implements [language.Models].
func (m *Models) Name() string { return name }

// Probabilities implements [language.Models]. Errors: fewer codes than two, one that
// is unknown or there twice.
func (m *Models) Probabilities(text string, codes []string) ([]float64, error) {
	s, err := m.of(codes)
	if err != nil {
		return nil, err
	}
	p := make([]float64, len(codes))
	for _, v := range s.detector.ComputeLanguageConfidenceValues(text) {
		p[s.index[v.Language()]] = v.Value()
	}
	return p, nil
}

func (m *Models) of(codes []string) (*set, error) {
	key := strings.Join(codes, " ")
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sets[key]; s != nil {
		return s, nil
	}
	languages := make([]lingua.Language, len(codes))
	s := &set{index: map[lingua.Language]int{}}
	for i, c := range codes {
		l := lingua.GetLanguageFromIsoCode639_1(lingua.GetIsoCode639_1FromValue(strings.ToUpper(c)))
		if l == lingua.Unknown || slices.Contains(languages[:i], l) {
			return nil, fmt.Errorf("language models: the code %.20q is unknown, or there twice", c)
		}
		languages[i], s.index[l] = l, i
	}
	if len(codes) < 2 {
		return nil, fmt.Errorf("language models: a choice between %d languages is none", len(codes))
	}
	s.detector = lingua.NewLanguageDetectorBuilder().FromLanguages(languages...).WithLowAccuracyMode().Build()
	m.sets[key] = s
	return s, nil
}

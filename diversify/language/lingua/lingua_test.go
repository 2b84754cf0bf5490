package lingua_test

import (
	"math"
	"strings"
	"testing"

	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/diversify/language/lingua"
)

// Every code that a Detector tells apart has models, and the numbers are probabilities in
// the order of the codes.
func TestProbabilities(t *testing.T) {
	m := lingua.New()
	codes := language.Codes()
	for text, want := range map[string]string{"Der Hafen war zwei Tage lang gesperrt.": "de", "Порт був закритий цілих два дні.": "uk"} {
		p, err := m.Probabilities(text, codes)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, v := range p {
			sum += v
			if codes[i] == want && v < 0.9 {
				t.Errorf("%q is %s by %v", text, want, v)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the sum is %v", sum)
		}
	}
}

func TestRefuses(t *testing.T) {
	m := lingua.New()
	for codes, want := range map[string]string{
		"de xx": `the code "xx" is unknown, or there twice`,
		"de de": `the code "de" is unknown, or there twice`,
		"de":    "a choice between 1 languages is none",
		"":      "a choice between 0 languages is none",
	} {
		if _, err := m.Probabilities("text", strings.Fields(codes)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want one with %q", codes, err, want)
		}
	}
}

package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

func TestDisplay(t *testing.T) {
	for name, want := range map[string]string{
		"chrf": "chrF", "chrf++": "chrF++", "bleu max all": "BLEU max all", "bleu:tokenize=intl": "BLEU:tokenize=intl", "rouge-l": "ROUGE-L",
		"kendall by segment": "Kendall’s τ by segment", "accuracy": "pairwise accuracy", "my-metric": "my-metric", "": "",
	} {
		assert.Equal(t, want, report.Display(name), name)
	}
}

func TestTrueMinus(t *testing.T) {
	for s, want := range map[string]string{
		"-0.041 [-0.060, -0.025]": "−0.041 [−0.060, −0.025]", "p-value of GPT-4, 3-5 (-1)": "p-value of GPT-4, 3-5 (−1)", "-": "-", "> -0.001": "> −0.001",
	} {
		assert.Equal(t, want, report.TrueMinus(s), s)
	}
}

// A longer term is found before a shorter one that is a part of it.
func TestExplanations(t *testing.T) {
	all := report.Explanations()
	for i, f := range all {
		for _, later := range all[i+1:] {
			if strings.Contains(later.Name, f.Name) && f.Name != later.Name {
				t.Errorf("%q stands before %q", f.Name, later.Name)
			}
		}
	}
}

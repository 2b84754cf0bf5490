package metrics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
)

// Metrics of words keep the promises of a metric, with options at their extremes.
func TestPromises(t *testing.T) {
	for _, spec := range []string{
		"bleu", "bleu:tokenize=intl,lowercase", "bleu:tokenize=zh,smooth=floor,smooth-value=7", "bleu:tokenize=char,smooth=add-k,order=64", "bleu:tokenize=none,smooth=none,effective-order=no",
		"chrf", "chrf++:beta=3,eps", "chrf:char-order=0,word-order=4,beta=1,lowercase", "chrf:char-order=64,beta=1e-9,whitespace", "chrf:char-order=64,word-order=64,beta=1e100",
		"rouge1:stemmer", "rouge2:stemmer", "rougeL:part=p,stemmer", "rougeLsum:part=r,stemmer", "ter", "ter:normalized,asian,no-punct,case-sensitive",
		"sari", "sari:rules=paper,deletion=p", "sari:rules=hf,lowercase=no", "sari:rules=original",
	} {
		m, err := lexical().Parse(t.Context(), spec)
		require.NoError(t, err)
		for _, b := range []metrics.Block{
			{Source: "The cat sat on a mat.", Hypotheses: []string{"The cat sat\non the mat.", "", "A cat", "A cat"}, References: []string{"The cat sat.", "A cat sat\non mats.", ""}},
			{Hypotheses: []string{"你好，世界", "\xff\xfe broken"}, References: []string{"你好。"}},
			{Hypotheses: []string{"a b"}, References: []string{"a c d"}},
		} {
			metricstest.Promises(t, m, b)
		}
	}
}

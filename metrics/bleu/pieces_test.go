package bleu_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
)

// aModel is a unigram model with the pieces ▁a, ▁ and b.
const aModel = "\n\t\n\x05<unk>\x18\x02" + "\n\x06\n\x04▁a" + "\n\x05\n\x03▁" + "\n\x03\n\x01b"

func writeModel(t *testing.T, content string, path ...string) string {
	t.Helper()
	file := filepath.Join(append([]string{t.TempDir()}, path...)...)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	return file
}

func TestPieces(t *testing.T) {
	file := writeModel(t, aModel, "sacrebleu", "models", "flores200sacrebleuspm")
	t.Setenv("SACREBLEU", filepath.Dir(filepath.Dir(file)))
	words, err := bleu.New(bleu.Options{Tokenize: "none"})
	require.NoError(t, err)
	for spec, c := range map[string]struct{ name, signature string }{
		"bleu:tokenize=flores200":                     {"bleu:tokenize=flores200", "case:mixed|eff:yes|tok:flores200|smooth:exp|spm:991aa633638d"},
		"bleu:tokenize=flores101,sp-model=" + file:    {"bleu:tokenize=flores101,sp-model=" + file, "case:mixed|eff:yes|tok:flores101|smooth:exp|spm:991aa633638d"},
		"bleu:sp-model=" + file + ",tokenize=spm":     {"bleu:tokenize=spm,sp-model=" + file, "case:mixed|eff:yes|tok:spm|smooth:exp|spm:991aa633638d"},
		"bleu:tokenize=flores200,smooth=none,order=2": {"bleu:tokenize=flores200,smooth=none,order=2", "case:mixed|eff:yes|tok:flores200|smooth:none|order:2|spm:991aa633638d"},
	} {
		m, err := metrics.Registry{bleu.Factory()}.Parse(t.Context(), spec)
		require.NoError(t, err)
		if got := m.Signature(metrics.Sentence).String(); m.Info().Name != c.name || got != c.signature {
			t.Errorf("%s: %s %s, want %s %s", spec, m.Info().Name, got, c.name, c.signature)
		}
	}
	m, err := bleu.New(bleu.Options{Tokenize: "flores200"})
	require.NoError(t, err)
	score := func(m metrics.Metric, hypothesis, reference string) float64 {
		out, err := m.Score(t.Context(), []metrics.Block{{Hypotheses: []string{hypothesis}, References: []string{reference}}})
		require.NoError(t, err)
		return out[0].Values[0]
	}
	// White space within an unknown piece splits it.
	for _, c := range [][4]string{{"abb a", "aba b", "▁a b b ▁a", "▁a b a ▁ b"}, {"cc\tdd b", "cc dd", "▁ cc dd ▁ b", "▁ cc ▁ dd"}} {
		assert.Equal(t, score(words, c[2], c[3]), score(m, c[0], c[1]), "%q against %q scores", c[0], c[1])
	}
	rapid.Check(t, func(rt *rapid.T) { metricstest.Promises(t, m, metricstest.Block().Draw(rt, "block")) })
}

func TestPiecesErrors(t *testing.T) {
	t.Setenv("SACREBLEU", t.TempDir())
	broken := writeModel(t, "a text", "broken.model")
	for spec, says := range map[string]string{
		"bleu:tokenize=flores101":                       "curl --create-dirs -Lo " + filepath.Join(os.Getenv("SACREBLEU"), "models", "sacrebleu_tokenizer_spm.model") + " https://",
		"bleu:tokenize=spm":                             "sp-model=FILE (what sacreBLEU calls spm is flores101)",
		"bleu:tokenize=spm,sp-model=" + broken:          broken + ": not a SentencePiece model",
		"bleu:tokenize=spm,sp-model=" + broken + ".not": "no such file",
		"bleu:sp-model=" + broken:                       "tokenizer 13a takes no model; flores101, flores200, spBLEU-1K, spm do",
		"bleu:tokenize=flores":                          `unknown value for tokenize "flores"`,
		"bleu:tokenize=ja-mecab":                        "exec:",
	} {
		_, err := (metrics.Registry{bleu.Factory()}).Parse(t.Context(), spec)
		assert.ErrorContains(t, err, says, spec)
	}
}

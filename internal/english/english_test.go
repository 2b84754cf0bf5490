package english_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/english"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 lines":     english.Count(0, "line"),
		"1 matrix":    english.Count(1, "matrix", "matrices"),
		"2 matrices":  english.Count(2, "matrix", "matrices"),
		"2,000 lines": english.Thousands(2000, "line"),
	} {
		assert.Equal(t, want, got)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word string
		of   []string
		want string
	}{
		{"BLEU", []string{"bleu"}, "bleu"},        // case costs nothing
		{"meen", []string{"mean", "men"}, "mean"}, // the first of equally near ones
		{"kendal-taux", []string{"kendall", "pearson"}, ""},
		{"x", nil, ""},
		{"tokenize", []string{"tolerate"}, ""},
		{"key", []string{"ref"}, ""},
		{"list", []string{"best"}, ""},
		{"m", []string{"n"}, ""}, // nothing in common
		{"mtaric", []string{"metric"}, "metric"},
		{"blue", []string{"bleu"}, "bleu"}, // swapped letters
		{"日本語", []string{"日"}, ""},         // characters are counted, not bytes
		{"日本語", []string{"日本"}, "日本"},
	} {
		assert.Equal(t, c.want, english.Nearest(c.word, c.of), "Nearest(%q, %q)", c.word, c.of)
	}
}

func TestUnknown(t *testing.T) {
	for word, want := range map[string]string{
		"blue":        `unknown metric "blue"; did you mean "bleu"? (known: bleu, chrf)`,
		"a\x1b[31m\n": `unknown metric "a\x1b[31m\n" (known: bleu, chrf)`, // what a terminal would obey is quoted
	} {
		assert.EqualError(t, english.Unknown("metric", word, []string{"bleu", "chrf"}), want, "Unknown(%q)", word)
	}
}

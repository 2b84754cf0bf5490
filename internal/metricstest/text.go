package metricstest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics"
)

// pieces are the words of generated texts. They are few, so that n-grams repeat, and
// some are hard for tokenizers and case folding.
var pieces = []string{
	"the", "The", "cat", "sat", "on", "mat", "U.S.", "don't", "3.14", "1,000", "5-4", "x-y",
	".", ",", "!", "«", "»", "“", "…", "(", "$", "%", "&", "-", "—",
	"&amp;", "&quot;", "&lt;", "<skipped>", "-\n",
	"中", "文", "你好", "，", "。", "日本", "かな", "１",
	"привет", "Мир", "ΟΔΥΣΣΕΥΣ", "Σ", "İ", "e\u0301", "\u0301", "ß",
	"שלום", "مرحبا", "नमस्ते", "😀", "👩‍👧", "\u200b", "\ufeff",
}

var gaps = []string{" ", " ", " ", " ", "", "  ", "\u00a0", "\u3000", "\t", "\n", "\x1c"}

// Text generates texts of many scripts, empty ones included.
func Text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
			return rapid.String().Draw(t, "runes")
		}
		return render(t, words(t))
	})
}

// Block generates blocks with hypotheses and references that share many words,
// some of them equal.
func Block() *rapid.Generator[metrics.Block] {
	return rapid.Custom(func(t *rapid.T) metrics.Block {
		base := words(t)
		text := rapid.Custom(func(t *rapid.T) string {
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				return Text().Draw(t, "other")
			}
			w := slices.Clone(base)
			for range rapid.IntRange(0, 2).Draw(t, "edits") {
				i := rapid.IntRange(0, len(w)).Draw(t, "at")
				if i < len(w) && rapid.Bool().Draw(t, "remove") {
					w = slices.Delete(w, i, i+1)
				} else {
					w = slices.Insert(w, i, rapid.SampledFrom(pieces).Draw(t, "piece"))
				}
			}
			return render(t, w)
		})
		return metrics.Block{
			Hypotheses: rapid.SliceOfN(text, 1, 4).Draw(t, "hypotheses"),
			References: rapid.SliceOfN(text, 1, 5).Draw(t, "references"),
		}
	})
}

// words draws a list of pieces, occasionally a long one.
func words(t *rapid.T) []string {
	w := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "words")
	if rapid.IntRange(0, 7).Draw(t, "long") == 7 {
		w = slices.Repeat(w, rapid.IntRange(2, 9).Draw(t, "times"))
	}
	return w
}

// render joins words, mostly by single spaces.
func render(t *rapid.T, words []string) string {
	if rapid.IntRange(0, 2).Draw(t, "plain") > 0 {
		return strings.Join(words, " ")
	}
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w)
		b.WriteString(rapid.SampledFrom(gaps).Draw(t, "gap"))
	}
	return b.String()
}

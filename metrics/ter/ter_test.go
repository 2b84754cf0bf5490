package ter

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics"
)

// score returns the sentence score of a pair.
func score(t *testing.T, o Options, hyp, ref string) float64 {
	t.Helper()
	s, err := New(o).Score(t.Context(), []metrics.Block{{Hypotheses: []string{hyp}, References: []string{ref}}})
	require.NoError(t, err)
	return s[0].Values[0]
}

func TestScore(t *testing.T) {
	for _, test := range []struct {
		name     string
		options  Options
		hyp, ref string
		edits    float64
		length   float64
	}{
		{name: "identical", hyp: "a small house", ref: "a small house", edits: 0, length: 3},
		{name: "case", hyp: "A Small house", ref: "a small House", edits: 0, length: 3},
		{name: "mixed case", options: Options{CaseSensitive: true}, hyp: "A Small house", ref: "a small House", edits: 3, length: 3},
		{name: "insertion", hyp: "a b c d", ref: "a b c d e", edits: 1, length: 5},
		{name: "deletion", hyp: "a b x c d", ref: "a b c d", edits: 1, length: 4},
		{name: "substitution", hyp: "a x c d", ref: "a b c d", edits: 1, length: 4},
		{name: "move", hyp: "c d a b", ref: "a b c d", edits: 1, length: 4},
		{name: "two moves", hyp: "b a q r d c", ref: "a b q r c d", edits: 2, length: 6},
		{name: "move, substitution, insertion", hyp: "this morning my brother drank tea from the blue cup",
			ref: "my sister drank this morning tea from the old blue cup", edits: 3, length: 11},
		// Eleven words are one too many for a single move.
		{name: "ten words", hyp: "x y a b c d e f g h i j", ref: "a b c d e f g h i j x y", edits: 1, length: 12},
		{name: "eleven words", hyp: "l m n o p q r s t u v a b c d e f g h i j k",
			ref: "a b c d e f g h i j k l m n o p q r s t u v", edits: 2, length: 22},
		{name: "all different", hyp: "a b c", ref: "d e f g h", edits: 5, length: 5},
		{name: "above 100", hyp: "a b c d e f", ref: "g h", edits: 6, length: 2},
		{name: "spaces", hyp: " a\u00a0b\x1cc \n", ref: "a b\u3000c", edits: 0, length: 3},
		{name: "punctuation", hyp: "yes , sir !", ref: "yes, sir!", edits: 4, length: 2},
		{name: "normalized", options: Options{Normalized: true}, hyp: "yes , sir !", ref: "yes, sir!", edits: 0, length: 4},
		{name: "no punctuation", options: Options{NoPunct: true}, hyp: "yes , sir !", ref: "yes, sir!", edits: 0, length: 2},
		{name: "Asian", hyp: "你好。", ref: "你们好。", edits: 1, length: 1},
		{name: "Asian does nothing by itself", options: Options{Asian: true}, hyp: "你好。", ref: "你们好。", edits: 1, length: 1},
		{name: "Asian normalized", options: Options{Normalized: true, Asian: true}, hyp: "你好。", ref: "你们好。", edits: 1, length: 4},
		{name: "Asian without punctuation", options: Options{Normalized: true, NoPunct: true, Asian: true},
			hyp: "你好", ref: "你们好。", edits: 1, length: 3},
		// A reference is tokenized twice: 's's 's in the hypothesis, 's 's 's in the reference.
		{name: "reference twice", options: Options{Normalized: true}, hyp: "'s's's", ref: "'s's's", edits: 2, length: 3},
		{name: "reference unescaped twice", options: Options{Normalized: true}, hyp: "&amp;amp;amp;", ref: "&amp;amp;amp;", edits: 0, length: 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, 100*(test.edits/test.length), score(t, test.options, test.hyp, test.ref), "TER")
		})
	}
}

func TestNativeAndCorpus(t *testing.T) {
	m := New(Options{})
	w := m.NewWorkspace().(*workspace)
	w.Load(metrics.Block{
		Hypotheses: []string{"a b c", "x", "a b c"},
		References: []string{"a b c d", "a b"},
	})
	got, want := w.Cells(nil), []float64{25, 50, 100, 100, 25, 50}
	assert.True(t, slices.Equal(got, want), "cells %v, want %v", got, want)
	// One edit is the least; the mean length is 3.
	got, want = w.Native(nil), []float64{m.CorpusScore([]float64{1, 3}), m.CorpusScore([]float64{2, 3}), m.CorpusScore([]float64{1, 3})}
	assert.True(t, slices.Equal(got, want), "native %v, want %v", got, want)
	got, want = w.CellStatistics([]float64{7}, 1, 0), []float64{7, 4, 4}
	assert.True(t, slices.Equal(got, want), "statistics of a cell %v, want %v", got, want)
	got, want = w.NativeStatistics([]float64{7}, 1), []float64{7, 2, 3}
	assert.True(t, slices.Equal(got, want), "native statistics %v, want %v", got, want)
	for _, test := range []struct{ sum, want []float64 }{
		{[]float64{3, 4}, []float64{75}},
		{[]float64{3, 0}, []float64{100}},
		{[]float64{0, 0}, []float64{0}},
	} {
		assert.Equal(t, test.want[0], m.CorpusScore(test.sum), "corpus score of %v", test.sum)
	}
}

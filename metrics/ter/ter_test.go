package ter

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

func TestScoreEmpty(t *testing.T) {
	for _, test := range []struct {
		hyp, ref string
		want     float64
	}{
		{"", "", 0},
		{" \n", "\u00a0", 0},
		{"", "a b", 100},
		{"a b c", "", 100},
		{"a b c", "\x1f", 100},
	} {
		if got := score(t, Options{}, test.hyp, test.ref); got != test.want {
			t.Errorf("TER of %q against %q = %v, want %v", test.hyp, test.ref, got, test.want)
		}
	}
}

func TestNativeAndCorpus(t *testing.T) {
	m := New(Options{})
	w := m.NewWorkspace().(*workspace)
	w.Load(metrics.Block{
		Hypotheses: []string{"a b c", "x", "a b c"},
		References: []string{"a b c d", "a b"},
	})
	if got, want := w.Cells(nil), []float64{25, 50, 100, 100, 25, 50}; !slices.Equal(got, want) {
		t.Errorf("cells %v, want %v", got, want)
	}
	// One edit is the least; the mean length is 3.
	if got, want := w.Native(nil), []float64{m.CorpusScore([]float64{1, 3}), m.CorpusScore([]float64{2, 3}), m.CorpusScore([]float64{1, 3})}; !slices.Equal(got, want) {
		t.Errorf("native %v, want %v", got, want)
	}
	if got, want := w.CellStatistics([]float64{7}, 1, 0), []float64{7, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("statistics of a cell %v, want %v", got, want)
	}
	if got, want := w.NativeStatistics([]float64{7}, 1), []float64{7, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("native statistics %v, want %v", got, want)
	}
	for _, test := range []struct{ sum, want []float64 }{
		{[]float64{3, 4}, []float64{75}},
		{[]float64{3, 0}, []float64{100}},
		{[]float64{0, 0}, []float64{0}},
	} {
		assert.Equal(t, test.want[0], m.CorpusScore(test.sum), "corpus score of %v", test.sum)
	}
}

func TestInfoAndSignature(t *testing.T) {
	for _, test := range []struct {
		options         Options
		name, signature string
	}{
		{Options{}, "ter", "case:lc|tok:tercom|norm:no|punct:yes|asian:no"},
		{Options{Normalized: true, Asian: true}, "ter:normalized=yes,asian=yes", "case:lc|tok:tercom|norm:yes|punct:yes|asian:yes"},
		{Options{true, true, true, true}, "ter:normalized=yes,no-punct=yes,asian=yes,case-sensitive=yes",
			"case:mixed|tok:tercom|norm:yes|punct:no|asian:yes"},
	} {
		m := New(test.options)
		assert.Equal(t, test.name, m.Info().Name, "name")
		for _, level := range []metrics.Level{metrics.Sentence, metrics.Corpus} {
			assert.Equal(t, test.signature, m.Signature(level).String(), "signature")
		}
	}
	info := New(Options{}).Info()
	if !info.NeedsReferences || info.NeedsSource || info.Direction != metrics.LowerIsBetter || info.Lower != 0 || !math.IsInf(info.Upper, 1) {
		t.Errorf("info %+v", info)
	}
}

// A workspace gives the same after use as when new, and computes a repeated text the same.
func TestWorkspaceReuse(t *testing.T) {
	options := rapid.Custom(func(t *rapid.T) Options {
		flag := rapid.Bool()
		return Options{flag.Draw(t, "normalized"), flag.Draw(t, "no-punct"), flag.Draw(t, "asian"), flag.Draw(t, "case")}
	})
	word := rapid.SampledFrom(strings.Fields("a b c A's 's's 1.5, x-y 中文 。 &amp;quot;"))
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
	})
	lines := rapid.SliceOfN(line, 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		m := New(options.Draw(t, "options"))
		used := m.NewWorkspace().(*workspace)
		for range 3 {
			b := metrics.Block{Hypotheses: lines.Draw(t, "hypotheses"), References: lines.Draw(t, "references")}
			used.Load(b)
			cells := used.Cells(nil)
			for h, hyp := range b.Hypotheses {
				least, total := math.Inf(1), 0.0
				for r, ref := range b.References {
					scores, err := m.Score(t.Context(), []metrics.Block{{Hypotheses: []string{hyp}, References: []string{ref}}})
					require.NoError(t, err)
					assert.Equal(t, scores[0].Values[0], cells[h*len(b.References)+r], "%q against %q", hyp, ref)
					s := used.CellStatistics(nil, h, r)
					least = min(least, s[0])
					total += s[1]
				}
				want := []float64{least, total / float64(len(b.References))}
				if got := used.NativeStatistics(nil, h); !slices.Equal(got, want) {
					t.Errorf("native statistics %v, want %v", got, want)
				}
			}
		}
	})
}

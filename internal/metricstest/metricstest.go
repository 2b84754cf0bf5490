// Package metricstest tests that a metric keeps the promises of metrics.Metric.
package metricstest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics"
)

// Promises tests on a block that all ways of scoring give the same numbers, that
// scores stay within their bounds, and that scoring stops when the context ends.
func Promises(t *testing.T, m metrics.Metric, b metrics.Block) {
	t.Helper()
	ctx := context.Background()
	info := m.Info()
	assert.True(t, info.Name != "" && info.Direction != 0, "incomplete info %+v", info)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	promised := func(score func(context.Context, []metrics.Block) ([]metrics.Scores, error), cells int) []metrics.Scores {
		t.Helper()
		out, err := score(ctx, []metrics.Block{b, b})
		require.NoError(t, err)
		require.Len(t, out, 2, "matrices of 2 blocks")
		for i, s := range out {
			if len(s.Values) != cells || s.Status != nil && len(s.Status) != cells || s.Reports != nil && len(s.Reports) != cells {
				t.Fatalf("block %d: %d values, %d statuses, %d reports for %d cells", i, len(s.Values), len(s.Status), len(s.Reports), cells)
			}
			for c, v := range s.Values {
				if s.Status != nil && s.Status[c] != metrics.Scored {
					continue
				}
				assert.True(t, v >= info.Lower && v <= info.Upper+1e-9, "%s: score %v is out of bounds for %q", info.Name, v, b)
				assert.Equal(t, out[0].Values[c], v, "%s: the same block has other scores", info.Name)
			}
		}
		_, err = score(cancelled, []metrics.Block{b})
		assert.Error(t, err, "%s: no error under a cancelled context", info.Name)
		return out
	}
	out := promised(m.Score, len(b.Hypotheses)*b.Columns())
	if n, ok := m.(metrics.NativeScorer); ok && n.HasNative() {
		promised(n.ScoreNative, len(b.Hypotheses))
	}
	if p, ok := m.(metrics.Preparer); ok {
		testWorkspace(t, info.Name, p.NewWorkspace(), b, out[0].Values)
	}
}

// testWorkspace tests that a workspace which has scored before gives the values of a new one.
func testWorkspace(t *testing.T, name string, w metrics.Workspace, b metrics.Block, want []float64) {
	t.Helper()
	w.Load(metrics.Block{Hypotheses: []string{"what was loaded before"}, References: []string{"must not matter", "at all"}})
	w.Load(b)
	assert.Equal(t, want, w.Cells(nil), "%s: a workspace in use gives other scores than a new one", name)
}

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

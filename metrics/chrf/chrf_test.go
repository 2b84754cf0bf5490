package chrf

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
)

func TestKnownScores(t *testing.T) {
	chars := func(n int) Options { return Options{CharOrder: n, Beta: 2} }
	words := func(n int) Options { return Options{WordOrder: n, Beta: 2} }
	with := func(o Options, change func(*Options)) Options { change(&o); return o }
	for _, c := range []struct {
		name     string
		o        Options
		hyp, ref string
		want     float64
	}{
		{"equal", chars(6), "a b c d e f", "a b c d e f", 100},
		{"equal, shorter than the order", chars(6), "ab", "ab", 100},
		{"equal, shorter than the order, eps", with(chars(6), func(o *Options) { o.Epsilon = true }), "abc", "abc", 50},
		{"both empty", chars(6), "", "", 0},
		{"empty hypothesis", chars(6), "", "a", 0},
		{"empty reference", chars(6), "a", "", 0},
		{"nothing in common", chars(6), "abc", "xyz", 0},
		// Precision 3/4, recall 1: F2 = 5·3/4 / (4·3/4+1).
		{"unigrams", chars(1), "abcx", "abc", 100 * 3.75 / 4},
		{"clipped", chars(1), "aaaa", "ab", 100 * 5. / 8 / (4./4 + .5)},
		{"white space is left out", chars(2), "a b", "ab", 100},
		{"white space is kept", with(chars(1), func(o *Options) { o.Whitespace = true }), "a b", "ab", 100 * 5 * 2. / 3 / (4*2./3 + 1)},
		{"case", chars(1), "A", "a", 0},
		{"lower case", with(chars(1), func(o *Options) { o.Lowercase = true }), "A", "a", 100},
		{"beta", with(chars(1), func(o *Options) { o.Beta = 1 }), "abcx", "abc", 100 * 6. / 7},
		{"words and marks", words(1), "a, (b) d", "a , ( b ) d", 100 * 5 * 4. / 5 * 4. / 6 / (4*4./5 + 4./6)},
		{"only marks", words(1), "- ! --", "- ! - -", 100},
	} {
		got := loaded(mustNew(c.o), metrics.Block{Hypotheses: []string{c.hyp}, References: []string{c.ref}}).Cells(nil)
		if len(got) != 1 || !near(got[0], c.want) {
			t.Errorf("%s: chrF of %q against %q = %v, want %v", c.name, c.hyp, c.ref, got, c.want)
		}
	}
}

// TestWords checks that each word gives up one punctuation mark.
func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"Hello, (world)!":   "Hello , (world) !",
		"(hi)":              "(hi )",
		"(hi there":         "( hi there",
		"don't ...":         "don't .. .",
		"« x » “y”":         "« x » “y”",
		"你好。 . .a":          "你好。 . . a",
		"a\u3000b\u00a0c-d": "a b c-d",
	} {
		w := loaded(mustNew(Options{WordOrder: 1, Beta: 2}), metrics.Block{Hypotheses: []string{in}, References: []string{"x"}})
		assert.Equal(t, want, strings.Join(wordsOf(in), " "), "words of %q", in)
		got := w.CellStatistics(nil, 0, 0)[0]
		assert.Equal(t, float64(len(strings.Fields(want))), got, "%q has %v words, want the words of %q", in, got, want)
	}
}

func TestEqualsPlainComputation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := options().Draw(t, "options")
		m := mustNew(o)
		shared := m.NewWorkspace().(*workspace) // reused for every block
		sumFirst, sumAll := make([]float64, 3*(o.CharOrder+o.WordOrder)), make([]float64, 3*(o.CharOrder+o.WordOrder))
		for range rapid.IntRange(1, 2).Draw(t, "segments") {
			b := metricstest.Block().Draw(t, "block")
			shared.Load(b)
			cells, native := shared.Cells(nil), shared.Native(nil)
			if fresh := loaded(m, b); !slices.Equal(fresh.Cells(nil), cells) || !slices.Equal(fresh.Native(nil), native) {
				t.Fatalf("a workspace in use and a new one disagree")
			}
			for h, hyp := range b.Hypotheses {
				best, all := -1.0, shared.NativeStatistics(nil, h)
				among := false
				for r, ref := range b.References {
					want := plainStatistics(o, hyp, ref)
					got := shared.CellStatistics(nil, h, r)
					require.True(t, slices.Equal(got, want), "%+v: statistics of %q against %q = %v, want %v", o, hyp, ref, got, want)
					score := plainScore(o, want)
					if got := cells[h*len(b.References)+r]; !near(got, score) {
						t.Fatalf("%+v: chrF of %q against %q = %v, want %v", o, hyp, ref, got, score)
					}
					best = max(best, score)
					among = among || slices.Equal(all, want)
				}
				if !near(native[h], best) {
					t.Fatalf("%+v: chrF of %q against %q = %v, want %v", o, hyp, b.References, native[h], best)
				}
				if !among || !near(plainScore(o, all), best) {
					t.Fatalf("%+v: statistics of %q against %q = %v, which do not belong to the best reference", o, hyp, b.References, all)
				}
			}
			for i, v := range shared.CellStatistics(nil, 0, 0) {
				sumFirst[i] += v
			}
			for i, v := range shared.NativeStatistics(nil, 0) {
				sumAll[i] += v
			}
		}
		for _, s := range [][]float64{sumFirst, sumAll} {
			got, want := m.CorpusScore(s), plainScore(o, s)
			require.True(t, near(got, want), "%+v: corpus chrF of %v = %v, want %v", o, s, got, want)
		}
	})
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "both 0"},
		{Options{CharOrder: -1, WordOrder: 2, Beta: 2}, "order -1"},
		{Options{CharOrder: 65, Beta: 2}, "order 65"},
		{Options{CharOrder: 6, WordOrder: 65, Beta: 2}, "order 65"},
		{Options{CharOrder: 6}, "beta 0"},
		{Options{CharOrder: 6, Beta: -2}, "beta -2"},
		{Options{CharOrder: 6, Beta: math.NaN()}, "beta NaN"},
		{Options{CharOrder: 6, Beta: math.Inf(1)}, "beta +Inf"},
		{Options{CharOrder: 6, Beta: 1e200}, "finite square"},
	} {
		if _, err := New(c.o); err == nil || !strings.HasPrefix(err.Error(), "chrf: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v): %v, want an error with %q", c.o, err, c.want)
		}
	}
}

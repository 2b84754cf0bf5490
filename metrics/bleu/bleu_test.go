package bleu

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
	e := math.E
	for _, c := range []struct {
		name     string
		o        Options
		hyp, ref string
		want     float64
	}{
		{"equal", Options{}, "a b c d", "a b c d", 100},
		{"one word, one order", Options{}, "a", "a", 100},
		{"one word, all orders", Options{Effective: "no"}, "a", "a", 0},
		{"one word, all orders, add-k", Options{Effective: "no", Smooth: addK}, "a", "a", 100},
		{"nothing in common", Options{}, "a b", "c d", 0},
		{"empty hypothesis", Options{}, "", "a", 0},
		{"empty reference", Options{}, "a", "", 0},
		{"both empty", Options{}, "", "", 0},
		{"short", Options{}, "a b", "a b c d", 100 / e},
		{"clipped", Options{MaxOrder: 1}, "a a a a", "a b c d", 25},
		// Unigrams 3/4, bigrams 1/3, trigrams 0/2, four-grams 0/1.
		{"none", Options{Smooth: none}, "a b x c", "a b c d", 0},
		{"exp", Options{}, "a b x c", "a b c d", 100 * math.Pow(3./4*1/3*1/4*1/4, 0.25)},
		{"floor", Options{Smooth: floor}, "a b x c", "a b c d", 100 * math.Pow(3./4*1/3*.1/2*.1, 0.25)},
		{"floor of nothing", Options{Smooth: floor, SmoothValue: new(0.0)}, "a b x c", "a b c d", 0}, // as in sacreBLEU
		{"add-k of nothing", Options{Smooth: addK, SmoothValue: new(0.0)}, "a b c d", "a b c d", 100},
		{"add-k", Options{Smooth: addK}, "a b x c", "a b c d", 100 * math.Pow(3./4*2/4*1/3*1/2, 0.25)},
		{"case", Options{}, "A b", "a B", 0},
		{"lower case", Options{Lowercase: true}, "A b", "a B", 100},
		{"tokens", Options{Tokenize: "none", MaxOrder: 1}, "a, b.", "a , b .", 0},
	} {
		got := loaded(mustNew(c.o), metrics.Block{Hypotheses: []string{c.hyp}, References: []string{c.ref}}).Cells(nil)
		if len(got) != 1 || !near(got[0], c.want) {
			t.Errorf("%s: BLEU of %q against %q = %v, want %v", c.name, c.hyp, c.ref, got, c.want)
		}
	}
}

func TestClosestLength(t *testing.T) {
	// References of 2 and 6 words are equally near to 4: the shorter counts.
	w := loaded(mustNew(Options{}), metrics.Block{Hypotheses: []string{"a b c d"}, References: []string{"a b c d e f", "c d", "a b c d e f g"}})
	got := w.NativeStatistics(nil, 0)[1]
	assert.True(t, got == 2, "closest length %v, want 2", got)
}

func TestEqualsPlainComputation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := options().Draw(t, "options")
		m := mustNew(o)
		shared := m.NewWorkspace().(*workspace) // reused for every block
		sentence, corpus := o.Effective != "no", o.Effective == "yes"
		sumFirst, sumAll := make([]float64, 2+2*o.MaxOrder), make([]float64, 2+2*o.MaxOrder)
		for range rapid.IntRange(1, 2).Draw(t, "segments") {
			b := metricstest.Block().Draw(t, "block")
			shared.Load(b)
			cells, native := shared.Cells(nil), shared.Native(nil)
			if fresh := loaded(m, b); !slices.Equal(fresh.Cells(nil), cells) || !slices.Equal(fresh.Native(nil), native) {
				t.Fatalf("a workspace in use and a new one disagree")
			}
			for h, hyp := range b.Hypotheses {
				for r, ref := range b.References {
					want := plainStatistics(o, hyp, ref)
					got := shared.CellStatistics(nil, h, r)
					require.True(t, slices.Equal(got, want), "%+v: statistics of %q against %q = %v, want %v", o, hyp, ref, got, want)
					if got, want := cells[h*len(b.References)+r], plainScore(o, want, sentence); !near(got, want) {
						t.Fatalf("%+v: BLEU of %q against %q = %v, want %v", o, hyp, ref, got, want)
					}
				}
				want := plainStatistics(o, hyp, b.References...)
				if got := shared.NativeStatistics(nil, h); !slices.Equal(got, want) {
					t.Fatalf("%+v: statistics of %q against %q = %v, want %v", o, hyp, b.References, got, want)
				}
				if got, want := native[h], plainScore(o, want, sentence); !near(got, want) {
					t.Fatalf("%+v: BLEU of %q against %q = %v, want %v", o, hyp, b.References, got, want)
				}
			}
			for i, v := range plainStatistics(o, b.Hypotheses[0], b.References[0]) {
				sumFirst[i] += v
			}
			for i, v := range plainStatistics(o, b.Hypotheses[0], b.References...) {
				sumAll[i] += v
			}
		}
		for _, s := range [][]float64{sumFirst, sumAll} {
			got, want := m.CorpusScore(s), plainScore(o, s, corpus)
			require.True(t, near(got, want), "%+v: corpus BLEU of %v = %v, want %v", o, s, got, want)
		}
	})
}

// Against some of the loaded references, scores are those of a block with only these.
func TestNativeAgainst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, b := mustNew(options().Draw(t, "options")), metricstest.Block().Draw(t, "block")
		w := loaded(m, b)
		for range 2 {
			chosen := rapid.SliceOfN(rapid.IntRange(0, len(b.References)-1), 1, 4).Draw(t, "chosen")
			some := metrics.Block{Hypotheses: b.Hypotheses}
			for _, r := range chosen {
				some.References = append(some.References, b.References[r])
			}
			got, want := w.NativeAgainst(nil, chosen), loaded(m, some).Native(nil)
			require.True(t, slices.Equal(got, want), "%q: %v against references %v, want %v", b, got, chosen, want)
		}
	})
}

// TestLengths covers all lengths up to the limits of tables and machine words.
func TestLengths(t *testing.T) {
	o := mustNew(Options{}).opt
	shared := mustNew(o).NewWorkspace().(*workspace)
	for n := range 140 {
		hyp := strings.Repeat("a b c d e f g ", n)[:2*n]
		refs := []string{hyp, strings.Repeat("c d e f g b a ", 20)[:2*(140-n)], strings.Repeat("a ", n)}
		shared.Load(metrics.Block{Hypotheses: []string{hyp}, References: refs})
		for r, got := range shared.Cells(nil) {
			if want := plainScore(o, plainStatistics(o, hyp, refs[r]), true); !near(got, want) {
				t.Errorf("%d words against %d: BLEU %v, want %v", n, len(strings.Fields(refs[r])), got, want)
			}
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Tokenize: "13A"}, `unknown tokenizer "13A"`},
		{Options{Smooth: "laplace"}, `unknown smoothing "laplace"`},
		{Options{Smooth: exp, SmoothValue: new(1.0)}, `smoothing "exp" takes no value`},
		{Options{SmoothValue: new(math.NaN())}, `smoothing "exp" takes no value`},
		{Options{Smooth: none, SmoothValue: new(1.0)}, `smoothing "none" takes no value`},
		{Options{Smooth: floor, SmoothValue: new(-1.0)}, "-1 is not between 0 and 1e306"},
		{Options{Smooth: floor, SmoothValue: new(math.NaN())}, "NaN is not between 0 and 1e306"},
		{Options{Smooth: addK, SmoothValue: new(math.Inf(1))}, "+Inf is not between 0 and 1e306"},
		{Options{Smooth: floor, SmoothValue: new(float64(math.MaxFloat64))}, "is not between 0 and 1e306"},
		{Options{MaxOrder: -1}, "order -1"},
		{Options{MaxOrder: 65}, "order 65"},
		{Options{Effective: "maybe"}, "want yes or no"},
	} {
		if _, err := New(c.o); err == nil || !strings.HasPrefix(err.Error(), "bleu: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v): %v, want an error with %q", c.o, err, c.want)
		}
	}
}

package chrf

import (
	"math"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// The plain way to compute chrF: a map of n-gram counts per text and order, and precision,
// recall and F as the papers define them.

func charactersOf(o Options, s string) []string {
	var out []string
	for _, r := range s {
		if o.Whitespace || !text.IsSpace(r) {
			out = append(out, string(r))
		}
	}
	return out
}

func wordsOf(s string) []string {
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	var out []string
	for _, w := range strings.FieldsFunc(s, text.IsSpace) {
		first, last := w[:1], w[len(w)-1:]
		switch {
		case utf8.RuneCountInString(w) == 1:
			out = append(out, w)
		case strings.Contains(punctuation, last):
			out = append(out, w[:len(w)-1], last)
		case strings.Contains(punctuation, first):
			out = append(out, first, w[1:])
		default:
			out = append(out, w)
		}
	}
	return out
}

func count(tokens []string, n int) map[string]int {
	m := map[string]int{}
	for i := 0; i+n <= len(tokens); i++ {
		m[strings.Join(tokens[i:i+n], "\x00")]++
	}
	return m
}

func total(m map[string]int) int {
	n := 0
	for _, c := range m {
		n += c
	}
	return n
}

// plainStatistics returns three numbers for each order: the n-grams of the hypothesis, of
// the reference, and those matched.
func plainStatistics(o Options, hyp, ref string) []float64 {
	if o.Lowercase {
		hyp, ref = text.Lower(hyp), text.Lower(ref)
	}
	var stats []float64
	add := func(hyp, ref []string, order int) {
		for n := 1; n <= order; n++ {
			h, r := count(hyp, n), count(ref, n)
			match := 0
			for gram, c := range h {
				match += min(c, r[gram])
			}
			ofHyp := total(h)
			if len(r) == 0 {
				ofHyp = 0
			}
			stats = append(stats, float64(ofHyp), float64(total(r)), float64(match))
		}
	}
	add(charactersOf(o, hyp), charactersOf(o, ref), o.CharOrder)
	add(wordsOf(hyp), wordsOf(ref), o.WordOrder)
	return stats
}

// plainScore is F of statistics, in percent.
func plainScore(o Options, stats []float64) float64 {
	f := func(precision, recall float64) float64 {
		b := o.Beta * o.Beta
		return (1 + b) * precision * recall / (b*precision + recall)
	}
	const tiny = 1e-16
	var ofOrders, precisions, recalls []float64
	for i := 0; i < len(stats); i += 3 {
		hyp, ref, match := stats[i], stats[i+1], stats[i+2]
		switch {
		case hyp > 0 && ref > 0:
			precisions, recalls = append(precisions, match/hyp), append(recalls, match/ref)
			if match > 0 {
				ofOrders = append(ofOrders, f(match/hyp, match/ref))
			} else {
				ofOrders = append(ofOrders, 0)
			}
		case ref > 0: // the precision is tiny, and the recall is 0
			ofOrders = append(ofOrders, 0)
		default:
			ofOrders = append(ofOrders, f(tiny, tiny))
		}
	}
	if o.Epsilon {
		return 100 * mean(ofOrders)
	}
	precision, recall := mean(precisions), mean(recalls)
	if precision+recall == 0 {
		return 0
	}
	return 100 * f(precision, recall)
}

func mean(s []float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

func options() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		o := Options{
			CharOrder:  rapid.IntRange(0, 7).Draw(t, "char"),
			WordOrder:  rapid.IntRange(0, 3).Draw(t, "word"),
			Beta:       rapid.SampledFrom([]float64{2, 1, 3, 0.5, 1e-200, 0.1 + 1e-17, 0.30000000000000004, 1e100}).Draw(t, "beta"),
			Whitespace: rapid.Bool().Draw(t, "whitespace"),
			Lowercase:  rapid.Bool().Draw(t, "lowercase"),
			Epsilon:    rapid.Bool().Draw(t, "eps"),
		}
		if o.CharOrder+o.WordOrder == 0 {
			o.CharOrder = 6
		}
		return o
	})
}

func mustNew(o Options) *Metric {
	m, err := New(o)
	if err != nil {
		panic(err)
	}
	return m
}

// loaded returns a new workspace with the block.
func loaded(m *Metric, b metrics.Block) *workspace {
	w := m.NewWorkspace().(*workspace)
	w.Load(b)
	return w
}

// near allows for a different order of operations.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9 }

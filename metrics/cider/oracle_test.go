package cider

import (
	"context"
	"iter"
	"math"
	"strings"

	"github.com/refract-eval/refract/metrics"
)

// The plain way to compute CIDEr: maps of n-grams as strings, and the formulas of the
// paper.

func wordsOf(split, s string) (out []string) {
	newSplitter(split).Split(s, func(w []byte) { out = append(out, string(w)) })
	return out
}

// gramsOf counts the n-grams of a text, by order.
func gramsOf(split, s string) [longest]map[string]float64 {
	words := wordsOf(split, s)
	var out [longest]map[string]float64
	for k := range out {
		out[k] = map[string]float64{}
		for i := 0; i+k < len(words); i++ {
			out[k][strings.Join(words[i:i+k+1], " ")]++
		}
	}
	return out
}

// plainFrequencies counts the segments that contain each n-gram.
func plainFrequencies(split string, segments [][]string) map[string]float64 {
	df := map[string]float64{}
	for _, refs := range segments {
		seen := map[string]bool{}
		for _, r := range refs {
			for _, grams := range gramsOf(split, r) {
				for g := range grams {
					seen[g] = true
				}
			}
		}
		for g := range seen {
			df[g]++
		}
	}
	return df
}

// plainScore is CIDEr of a hypothesis against references.
func plainScore(o options, df map[string]float64, documents float64, hyp string, refs []string) float64 {
	vector := func(s string) (out [longest]map[string]float64, norm [longest]float64) {
		out = gramsOf(o.Split, s)
		for k := range out {
			for g, n := range out[k] {
				v := n * math.Log(documents/max(1, df[g]))
				out[k][g] = v
				norm[k] += v * v
			}
			norm[k] = math.Sqrt(norm[k])
		}
		return out, norm
	}
	h, hn := vector(hyp)
	total := 0.0
	for _, ref := range refs {
		r, rn := vector(ref)
		d := float64(max(0, len(wordsOf(o.Split, hyp))-1) - max(0, len(wordsOf(o.Split, ref))-1))
		for k := range h {
			cosine := 0.0
			for g, v := range h[k] {
				if !o.Plain {
					v = min(v, r[k][g])
				}
				cosine += v * r[k][g]
			}
			if hn[k]*rn[k] > 0 {
				cosine /= hn[k] * rn[k]
			}
			if !o.Plain {
				cosine *= math.Exp(-d * d / 72)
			}
			total += cosine / longest
		}
	}
	return 10 * total / float64(len(refs))
}

// each yields segments.
func each(segments [][]string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, s := range segments {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func mustFit(o options, segments [][]string) *metric {
	m, err := newMetric(o)
	if err != nil {
		panic(err)
	}
	fitted, err := m.Fit(context.Background(), each(segments))
	if err != nil {
		panic(err)
	}
	return fitted.(*metric)
}

// loaded returns a new workspace with the block.
func loaded(m *metric, b metrics.Block) *workspace {
	w := m.NewWorkspace().(*workspace)
	w.Load(b)
	return w
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9 }

package bleu

import (
	"math"
	"strings"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// The plain way to compute BLEU: a map of n-gram counts per text and order, and the paper's
// formula with products and roots instead of logarithms.

func tokensOf(o Options, s string) []string {
	if o.Lowercase {
		s = text.Lower(s)
	}
	var out []string
	token.New(o.Tokenize, false).Split(s, func(b []byte) { out = append(out, string(b)) })
	return out
}

func count(tokens []string, n int) map[string]int {
	m := map[string]int{}
	for i := 0; i+n <= len(tokens); i++ {
		m[strings.Join(tokens[i:i+n], "\x00")]++
	}
	return m
}

// plainStatistics returns lengths, matches of each order and totals of each order for one
// hypothesis.
func plainStatistics(o Options, hyp string, refs ...string) []float64 {
	h := tokensOf(o, hyp)
	closest := -1
	for _, r := range refs {
		n := len(tokensOf(o, r))
		d, best := math.Abs(float64(n-len(h))), math.Abs(float64(closest-len(h)))
		if closest < 0 || d < best || d == best && n < closest {
			closest = n
		}
	}
	var matches, totals []float64
	for n := 1; n <= o.MaxOrder; n++ {
		match, total := 0, 0
		for gram, c := range count(h, n) {
			most := 0
			for _, r := range refs {
				most = max(most, count(tokensOf(o, r), n)[gram])
			}
			match += min(c, most)
			total += c
		}
		matches, totals = append(matches, float64(match)), append(totals, float64(total))
	}
	return append(append([]float64{float64(len(h)), float64(closest)}, matches...), totals...)
}

// plainScore is BLEU of statistics, in percent.
func plainScore(o Options, stats []float64, effective bool) float64 {
	hypLen, refLen := stats[0], stats[1]
	matches, totals := stats[2:2+o.MaxOrder], stats[2+o.MaxOrder:]
	if sum(matches) == 0 {
		return 0
	}
	var precisions []float64
	unmatched := 0
	for i := range matches {
		m, t := matches[i], totals[i]
		if o.Smooth == addK && i > 0 {
			m, t = m+*o.SmoothValue, t+*o.SmoothValue
		}
		if t == 0 {
			break
		}
		if m == 0 {
			unmatched++
			switch o.Smooth {
			case exp:
				m = math.Pow(0.5, float64(unmatched))
			case floor:
				m = *o.SmoothValue
			}
		}
		precisions = append(precisions, m/t)
	}
	if !effective && len(precisions) < o.MaxOrder {
		return 0
	}
	mean := 1.0
	for _, p := range precisions {
		mean *= math.Pow(p, 1/float64(len(precisions)))
	}
	return 100 * mean * min(1, math.Exp(1-refLen/hypLen))
}

func sum(s []float64) float64 {
	total := 0.0
	for _, v := range s {
		total += v
	}
	return total
}

// smoothValues are pointers, so that equal Options hold the same one.
var smoothValues = []*float64{new(0.0), new(0.1), new(0.125), new(1.0), new(2.5), new(1e-9), new(0.1 + 1e-17), new(0.30000000000000004), new(1e20)}

// options generates every combination that New takes, without zero values.
func options() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		o := Options{
			Tokenize:  rapid.SampledFrom(token.Names()).Draw(t, "tokenize"),
			Smooth:    rapid.SampledFrom([]string{none, floor, addK, exp}).Draw(t, "smooth"),
			Lowercase: rapid.Bool().Draw(t, "lowercase"),
			MaxOrder:  rapid.IntRange(1, 6).Draw(t, "order"),
			Effective: rapid.SampledFrom([]string{"", "yes", "no"}).Draw(t, "effective"),
		}
		if o.Smooth == floor || o.Smooth == addK {
			o.SmoothValue = rapid.SampledFrom(smoothValues).Draw(t, "value")
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
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

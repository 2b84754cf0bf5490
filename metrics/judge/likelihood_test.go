package judge

import (
	"math"
	"testing"

	"github.com/refract-eval/refract/llm"
)

// tok returns a token; p above 0 means no log-probability.
func tok(from, to int, p float64) llm.TokenLogprob {
	t := llm.TokenLogprob{Text: "x", Offset: from, End: to}
	if p <= 0 {
		t.Logprob = &p
	}
	return t
}

func TestMeanLogprob(t *testing.T) {
	for _, tc := range []struct {
		name   string
		tokens []llm.TokenLogprob
		prefix int
		mean   float64
		n      int // 0 if there is no score
	}{
		{"parted", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 3, -8), tok(3, 5, -1), tok(5, 7, -2)}, 3, -1.5, 2},
		{"straddling", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 3, -8), tok(3, 5, -1), tok(5, 7, -2)}, 4, -1.5, 2},
		{"beginning of sequence", []llm.TokenLogprob{tok(0, 0, 1), tok(0, 2, -3), tok(2, 3, -1)}, 1, -2, 2},
		{"a character of many tokens", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 4, -1), tok(1, 4, -2), tok(1, 4, -6)}, 1, -3, 3},
		{"the same, written with the last", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 1, -1), tok(1, 1, -2), tok(1, 4, -6)}, 1, -3, 3},
		{"only what matters need be known", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 2, 1), tok(2, 3, -1)}, 2, -1, 1},
		{"no continuation", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 2, -1)}, 2, 0, 0},
		{"missing", []llm.TokenLogprob{tok(0, 1, 1), tok(1, 2, -1), tok(2, 3, 1)}, 1, 0, 0},
	} {
		mean, n, err := meanLogprob(tc.tokens, tc.prefix)
		if (err == nil) != (tc.n > 0) || math.Abs(mean-tc.mean) > 1e-12 || n != tc.n {
			t.Errorf("%s: %v of %d tokens, %v; want %v of %d", tc.name, mean, n, err, tc.mean, tc.n)
		}
	}
}

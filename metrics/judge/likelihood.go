package judge

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract/llm"
)

// meanLogprob returns the mean log-probability of a continuation, and the number n of its
// tokens. tokens are those of the whole text; the continuation starts at byte prefixBytes,
// which is at least 1, because the first token of a text has no log-probability.
//
// A token may straddle the border between prefix and continuation. It often holds the first
// word of the continuation and the space before it. Such a token counts as part of the
// continuation, so that all of its text is scored. The score then depends on where the
// texts meet: a prompt that ends in a space, for example, seldom ends at a token boundary.
//
// A token without a log-probability is an error and does not count as 0.
//
// This is GPTScore (Fu et al. 2023, "GPTScore: Evaluate as You Desire", equation 1) with
// equal weights: h is the text, d, a and S (the task's description, the aspect's definition
// and the context) are the prompt, and
//
//	GPTScore(h | d, a, S) = 1/m · Σ log p(h_t | h_<t, d, a, S)
//
// in natural logarithms, at most 0; higher is better.
func meanLogprob(tokens []llm.TokenLogprob, prefixBytes int) (mean float64, n int, err error) {
	first := border(tokens, prefixBytes)
	if first == len(tokens) {
		return 0, 0, fmt.Errorf("the continuation has no tokens: none of %d reaches beyond byte %d", len(tokens), prefixBytes)
	}
	sum := 0.0
	for i, t := range tokens[first:] {
		if t.Logprob == nil {
			return 0, 0, fmt.Errorf("a token of the continuation has no log-probability: %d of %d, %q at byte %d", first+i+1, len(tokens), t.Text, t.Offset)
		}
		sum += *t.Logprob
	}
	n = len(tokens) - first
	return sum / float64(n), n, nil
}

// border returns the index of the continuation's first token. That is the first token that
// ends beyond the prefix, or an empty token right before it, which belongs to it. If there
// is none, it is the number of tokens.
func border(tokens []llm.TokenLogprob, prefixBytes int) int {
	first := slices.IndexFunc(tokens, func(t llm.TokenLogprob) bool { return t.End > prefixBytes })
	if first < 0 {
		return len(tokens)
	}
	// Empty tokens at offset 0 are what a tokenizer adds to every text.
	for at := tokens[first].Offset; at > 0 && tokens[first-1].Offset == at && tokens[first-1].End == at; {
		first--
	}
	return first
}

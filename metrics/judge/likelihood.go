package judge

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract/llm"
)

// meanLogprob gives the mean log-probability of the n tokens of a continuation: of a
// text whose tokens these are, what stands from byte prefixBytes on, which is
// at least 1 since a text's first token has no log-probability.
//
// A model's tokens need not part where the prefix ends. One that straddles the
// border holds some of the continuation, often its whole first word with the
// space before it, and counts as the continuation's, so that none of its text
// goes unscored. The score then depends on where the texts meet: a prompt that
// ends in a space, for one, seldom parts where a model's tokens do.
//
// A token without a log-probability is no zero, but an error.
//
// This is GPTScore (Fu et al. 2023, "GPTScore: Evaluate as You Desire", equation 1)
// with equal weights: h is the text, d, a and S (the task's description, the aspect's
// definition and the context) are the prompt, and
//
//	GPTScore(h | d, a, S) = 1/m · Σ log p(h_t | h_<t, d, a, S)
//
// in natural logarithms, at most 0, more being better.
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

// border is the index of the continuation's first token: of the first that
// ends beyond the prefix, or of those without text right before it, which are
// parts of it. Without such a token it is the number of tokens.
func border(tokens []llm.TokenLogprob, prefixBytes int) int {
	first := slices.IndexFunc(tokens, func(t llm.TokenLogprob) bool { return t.End > prefixBytes })
	if first < 0 {
		return len(tokens)
	}
	// At 0 they are what a tokenizer puts before every text.
	for at := tokens[first].Offset; at > 0 && tokens[first-1].Offset == at && tokens[first-1].End == at; {
		first--
	}
	return first
}

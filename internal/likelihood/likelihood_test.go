package likelihood_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/likelihood"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// tok is a token; a p above 0 stands for none.
func tok(text string, from, to int, p float64) llm.TokenLogprob {
	t := llm.TokenLogprob{Text: text, Offset: from, End: to}
	if p <= 0 {
		t.Logprob = &p
	}
	return t
}

func Example() {
	h := &llmtest.Handler{} // a test double in place of a model
	client, err := llm.New(llm.Config{BaseURL: "http://127.0.0.1:8000/v1", Endpoint: llm.Completions, Transport: h.Transport()})
	if err != nil {
		fmt.Println(err)
		return
	}
	const prefix, continuation = "Say it again: The lake froze over.\nIn other words:", " Ice covered the lake."
	r, err := client.Complete(context.Background(), llm.Request{
		Model: "m", Prompt: prefix + continuation, TopP: 1, MaxTokens: 1, PromptLogprobs: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens, err := llm.ParseTokens(r.Text)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, n, err := likelihood.Score(tokens, len(prefix))
	fmt.Printf("%.4f of %d tokens, %v\n", mean, n, err)
	// Output: -1.6897 of 5 tokens, <nil>
}

func TestScore(t *testing.T) {
	for _, tc := range []struct {
		name   string
		tokens []llm.TokenLogprob
		prefix int
		mean   float64
		n      int
	}{
		{"parted", []llm.TokenLogprob{tok("a", 0, 1, 1), tok(" b", 1, 3, -8), tok(" c", 3, 5, -1), tok(" d", 5, 7, -2)}, 3, -1.5, 2},
		{"straddling", []llm.TokenLogprob{tok("a", 0, 1, 1), tok(" b", 1, 3, -8), tok(" c", 3, 5, -1), tok(" d", 5, 7, -2)}, 4, -1.5, 2},
		{"last token straddles", []llm.TokenLogprob{tok("a", 0, 1, 1), tok(" bcd", 1, 5, -3)}, 4, -3, 1},
		{"beginning of sequence", []llm.TokenLogprob{tok("<s>", 0, 0, 1), tok("ab", 0, 2, -3), tok("c", 2, 3, -1)}, 1, -2, 2},
		{"a character of many tokens", []llm.TokenLogprob{tok("a", 0, 1, 1), tok("�", 1, 4, -1), tok("�", 1, 4, -2), tok("�", 1, 4, -6)}, 1, -3, 3},
		{"the same, written with the last", []llm.TokenLogprob{tok("a", 0, 1, 1), tok("", 1, 1, -1), tok("", 1, 1, -2), tok("雪", 1, 4, -6)}, 1, -3, 3},
		{"a token of no text at the end", []llm.TokenLogprob{tok("a", 0, 1, 1), tok("b", 1, 2, -1), tok("", 2, 2, -3)}, 1, -2, 2},
		{"impossible", []llm.TokenLogprob{tok("a", 0, 1, 1), tok("b", 1, 2, -9999)}, 1, -9999, 1},
		{"certain", []llm.TokenLogprob{tok("a", 0, 1, 1), tok("b", 1, 2, 0)}, 1, 0, 1},
		{"only what matters need be known", []llm.TokenLogprob{tok("a", 0, 1, 1), tok("b", 1, 2, 1), tok("c", 2, 3, -1)}, 2, -1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mean, n, err := likelihood.Score(tc.tokens, tc.prefix)
			if err != nil || math.Abs(mean-tc.mean) > 1e-12 || n != tc.n {
				t.Errorf("%v of %d tokens, %v; want %v of %d", mean, n, err, tc.mean, tc.n)
			}
		})
	}
}

func TestNoScore(t *testing.T) {
	ab := []llm.TokenLogprob{tok("a", 0, 1, 1), tok("b", 1, 2, -1)}
	for _, tc := range []struct {
		name   string
		tokens []llm.TokenLogprob
		prefix int
		is     error
		says   string
	}{
		{"no tokens", nil, 1, likelihood.ErrNone, "none of the 0 tokens"},
		{"no continuation", ab, 2, likelihood.ErrNone, "beyond byte 2"},
		{"a token of no text is no continuation", append(ab, tok("", 2, 2, -1)), 2, likelihood.ErrNone, ""},
		{"missing", append(ab, tok("c", 2, 3, 1), tok("d", 3, 4, -1)), 1, likelihood.ErrMissing, `token 3 of 4, "c" at byte 2`},
		{"no prefix", ab, 0, nil, "at least 1"},
	} {
		_, n, err := likelihood.Score(tc.tokens, tc.prefix)
		if err == nil || n != 0 || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %d, %v", tc.name, n, err)
		}
	}
}

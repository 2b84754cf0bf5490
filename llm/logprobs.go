package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
)

// TokenLogprob is a token of a prompt, in the Response to a request with PromptLogprobs.
type TokenLogprob struct {
	// Text is the token as the server writes it; "" if it gives none. It may differ from the
	// prompt: servers write part of a character as U+FFFD or an escape, and some drop a
	// token's first space.
	Text string `json:"t"`
	// Offset and End delimit the token in the bytes of the prompt. They are widened to whole
	// characters, so that tokens of the same character overlap, and are equal for a token
	// without text, such as the beginning-of-sequence token. Neither decreases from token to
	// token, and together the tokens cover the prompt.
	Offset int `json:"o"`
	End    int `json:"e"`
	// Logprob is the token's natural log-probability given the tokens before it, at most 0;
	// nil if the server gives none, as for a prompt's first token. vLLM writes -9999 for a
	// probability of 0.
	Logprob *float64 `json:"p"`
}

// ParseTokens parses the Text of a Response to a request with PromptLogprobs.
func ParseTokens(text string) ([]TokenLogprob, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var tokens []TokenLogprob
	if err := d.Decode(&tokens); err != nil {
		return nil, fmt.Errorf("read a prompt's tokens: %w", err)
	}
	if d.More() {
		return nil, errors.New("read a prompt's tokens: there is text after the list")
	}
	var before TokenLogprob
	for i, t := range tokens {
		if t.Offset < before.Offset || t.Offset > before.End || t.End < before.End || t.End < t.Offset {
			return nil, fmt.Errorf("read a prompt's tokens: token %d is at %d to %d, after one at %d to %d", i+1, t.Offset, t.End, before.Offset, before.End)
		}
		if p := t.Logprob; p != nil && !credible(*p) {
			return nil, fmt.Errorf("read a prompt's tokens: token %d has the log-probability %v", i+1, *p)
		}
		before = t
	}
	return tokens, nil
}

// credible reports whether p can be a log-probability: at most 0, apart from rounding.
func credible(p float64) bool { return p <= 1e-3 }

func formatTokens(tokens []TokenLogprob) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tokens); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// echoLogprobs is "logprobs" in an answer to an echo. Servers without echo may have another form
// here.
type echoLogprobs struct {
	Tokens   []string   `json:"tokens"`
	Logprobs []*float64 `json:"token_logprobs"`
}

// promptTokens finds the tokens of a prompt in an answer's choice. The error says what is wrong
// with the answer.
func promptTokens(prompt string, c *choice, completion *int) ([]TokenLogprob, error) {
	var echoed echoLogprobs
	if json.Unmarshal(c.Logprobs, &echoed) != nil || len(echoed.Tokens) == 0 || c.Text.text == nil || !strings.HasPrefix(*c.Text.text, prompt) {
		return nil, errNoLogprobs
	}
	all := len(echoed.Tokens)
	if len(echoed.Logprobs) != all {
		return nil, fmt.Errorf("gave %s for %s", english.Count(len(echoed.Logprobs), "log-probability", "log-probabilities"), english.Count(all, "token"))
	}
	// The answer's own token follows the prompt's tokens, unless the server omits a
	// token that ends the answer.
	counts := []int{all - 1, all}
	if completion != nil && *completion == 0 {
		slices.Reverse(counts)
	}
	far := 0
	for _, n := range counts {
		borders, reached := align(prompt, echoed.Tokens[:n])
		if borders != nil {
			return tokensAt(prompt, &echoed, borders)
		}
		far = max(far, reached)
	}
	return nil, fmt.Errorf("gave tokens that do not spell the prompt: they differ from it at byte %d", far)
}

var errNoLogprobs = errors.New("gave no log-probabilities of the prompt's tokens")

func tokensAt(prompt string, echoed *echoLogprobs, borders []int) ([]TokenLogprob, error) {
	tokens := make([]TokenLogprob, len(borders)-1)
	some := false
	for i := range tokens {
		p := echoed.Logprobs[i]
		if p != nil && !credible(*p) {
			return nil, fmt.Errorf("gave the log-probability %v", *p)
		}
		some = some || p != nil
		from, to := characters(prompt, borders[i], borders[i+1])
		tokens[i] = TokenLogprob{Text: echoed.Tokens[i], Offset: from, End: to, Logprob: p}
	}
	if !some {
		return nil, errNoLogprobs
	}
	return tokens, nil
}

const hintLogprobs = "the request needs a server whose completions endpoint answers echo with logprobs for the prompt, as vLLM's does"

// readTokens replaces the answer's text by the list of the prompt's tokens.
func (s *server) readTokens(prompt string, resp *Response, c *choice, used *usage, body []byte) *Error {
	var completion *int
	if used.PromptTokens > 0 {
		completion = &used.CompletionTokens
	}
	tokens, err := promptTokens(prompt, c, completion)
	if err == nil {
		resp.Text, err = formatTokens(tokens)
	}
	if err != nil {
		return s.fail(ErrBadAnswer, http.StatusOK, noRetry, err.Error(), s.sent(bytes.TrimSpace(body)), hintLogprobs)
	}
	resp.HasText, resp.FinishReason = true, "stop"
	return nil
}

// refusesLogprobs rewords a refusal about log-probabilities: the server does not support them, and
// retrying is useless.
func (e *Error) refusesLogprobs() {
	if e.blocked || e.newLimit {
		return
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		if says(e.Message, "echo", "logprobs") {
			e.Kind, e.retries = ErrBadAnswer, noRetry
			e.what, e.Hint = "refuses to give log-probabilities of the prompt's tokens", hintLogprobs
		}
	}
}

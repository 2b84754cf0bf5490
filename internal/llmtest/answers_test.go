package llmtest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func complete(t *testing.T, h *llmtest.Handler, endpoint llm.Endpoint, r llm.Request) llm.Response {
	t.Helper()
	c, err := llm.New(llm.Config{BaseURL: "http://test/v1", Transport: h.Transport(), Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	r.Model, r.TopP = "m", 1
	if r.MaxTokens == 0 {
		r.MaxTokens = 50
	}
	resp, err := c.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// A test gives recorded answers by the messages.
func TestRecordedAnswers(t *testing.T) {
	h := &llmtest.Handler{Answer: func(r *llmtest.Request) string {
		return fmt.Sprintf("%d messages, the first of the %s: %s", len(r.Messages), r.Messages[0].Role, r.Messages[0].Content)
	}}
	r := llm.Request{Messages: []llm.Message{{Role: "system", Content: "Judge."}, {Role: "user", Content: "This one."}}}
	if got := complete(t, h, llm.Chat, r).Text; got != "2 messages, the first of the system: Judge." {
		t.Error(got)
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"":           nil,
		"Hi there.":  {"Hi", " there", "."},
		" a  b\n":    {" a", " ", " b", "\n"},
		"雪🙂\xff 9 é": {"雪", "🙂", "\xff", " 9", " é"},
	} {
		if diff := cmp.Diff(want, llmtest.Tokens(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	seen := map[float64]bool{}
	for _, model := range []string{"m", "n"} {
		for _, before := range []string{"", "a", "b"} {
			for _, token := range []string{"a", " a"} {
				p := llmtest.Logprob(model, before, token)
				if p >= 0 || p < -30 || seen[p] || p != llmtest.Logprob(model, before, token) {
					t.Errorf("%q %q %q: %v", model, before, token, p)
				}
				seen[p] = true
			}
		}
	}
}

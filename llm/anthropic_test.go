package llm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// messages returns a client of h at /v1/messages.
func messages(t *testing.T, h *llmtest.Handler) *llm.Client {
	t.Helper()
	h.Key = "sk-ant-1234567890"
	return local(t, h, func(cfg *llm.Config) { cfg.APIKey, cfg.Endpoint, cfg.MaxRetries = h.Key, llm.Messages, -1 })
}

// A request reaches Messages as that protocol wants it: the system prompt and the stops have fields
// of their own, and a 1, which newer models refuse, is not sent.
func TestMessages(t *testing.T) {
	c := messages(t, &llmtest.Handler{JSON: true, Answer: func(r *llmtest.Request) string { return strings.Repeat("Four. ", 20) + r.Prompt }})
	resp, err := c.Complete(t.Context(), llm.Request{
		Model: "claude", Temperature: 1, TopP: 1, MaxTokens: 20, Stop: []string{"\n\nHuman:"},
		Messages: []llm.Message{{Role: "system", Content: "Add."}, {Role: "user", Content: "2+2"}},
		Schema:   llm.Schema{Name: "sum", JSON: `{"type":"object"}`},
		Extra:    map[string]any{"output_config": map[string]any{}},
	})
	want := llm.Response{Text: strings.Repeat("Four. ", 19) + "Four.", HasText: true, FinishReason: llm.FinishLength, PromptTokens: 12, CompletionTokens: 6, Model: "claude"}
	assert.True(t, err == nil && resp == want, "%+v, %v", resp, err)
	for said, want := range map[string]llm.Response{
		"end_turn": {Text: "x", HasText: true, FinishReason: "stop"}, "stop_sequence": {Text: "x", HasText: true, FinishReason: "stop"},
		"refusal": {FinishReason: llm.FinishContentFilter}, "pause_turn": {Text: "x", HasText: true, FinishReason: llm.FinishLength},
		"model_context_window_exceeded": {Text: "x", HasText: true, FinishReason: llm.FinishLength},
	} {
		c := messages(t, &llmtest.Handler{Decide: always(llmtest.Finish(said, "x"))})
		resp, err := c.Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", Temperature: 1, TopP: 1, MaxTokens: 1})
		if resp.PromptTokens, resp.CompletionTokens, resp.Model = 0, 0, ""; err != nil || resp != want {
			t.Errorf("%s: %+v, %v", said, resp, err)
		}
	}
}

// Which of temperature and top_p a model takes depends on the model and the version.
func TestMessagesSampling(t *testing.T) {
	for _, c := range []struct {
		old         bool
		temperature float64
		topP        float64
		refuses     string // "" for an answer
	}{
		{true, 0, 1, ""}, {true, 1, 0.9, ""}, {true, 0.5, 0.9, llm.ParamTopP}, {false, 1, 1, ""},
		{false, 0, 1, llm.ParamTemperature}, {false, 1, 0.9, llm.ParamTopP},
	} {
		client := messages(t, &llmtest.Handler{Old: c.old})
		r := llm.Request{Model: "m", Prompt: "p", Temperature: c.temperature, TopP: c.topP, MaxTokens: 9}
		_, err := client.Complete(t.Context(), r)
		var e *llm.Error
		if got := errors.As(err, &e); got != (c.refuses != "") || got && e.Refuses != c.refuses {
			t.Errorf("%+v: %v", c, err)
		}
		if r.Omit = []string{c.refuses}; c.refuses != "" {
			_, err := client.Complete(t.Context(), r)
			assert.NoError(t, err, "%+v without it", c)
		}
	}
	_, err := messages(t, &llmtest.Handler{}).Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", Temperature: 1.5, TopP: 1, MaxTokens: 9})
	wantKind(t, err, llm.ErrInvalidRequest, "at most 1")
}

// Errors have the class of their status; a limit of the account comes as a 400.
func TestMessagesErrors(t *testing.T) {
	for _, c := range []struct {
		status        int
		kind, message string
		want          error
		says          string
	}{
		{400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", llm.ErrQuota, "billing"},
		{400, "invalid_request_error", "You have reached your specified API usage limits.", llm.ErrQuota, "billing"},
		{400, "invalid_request_error", "prompt is too long: 201 tokens > 200 maximum", llm.ErrContextLength, "201 tokens"},
		{401, "authentication_error", "invalid x-api-key sk-ant-1234567890", llm.ErrAuth, "set ANTHROPIC_API_KEY"},
		{402, "billing_error", "no", llm.ErrQuota, ""}, {404, "not_found_error", "model: m", llm.ErrNotFound, ""},
		{413, "request_too_large", "no", llm.ErrInvalidRequest, ""}, {429, "rate_limit_error", "slow", llm.ErrRateLimited, ""},
		{500, "api_error", "no", llm.ErrUnavailable, ""}, {529, "overloaded_error", "Overloaded", llm.ErrUnavailable, ""},
	} {
		said := fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, c.kind, c.message)
		client := messages(t, &llmtest.Handler{Decide: always(llmtest.Body(c.status, "application/json", said))})
		_, err := client.Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", Temperature: 1, TopP: 1, MaxTokens: 9})
		wantKind(t, err, c.want, c.says)
		assert.NotContains(t, err.Error(), "sk-ant")
	}
}

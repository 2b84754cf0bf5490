package llm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func messages(t *testing.T, m *llmtest.Messages) *llm.Client {
	t.Helper()
	m.Key = "sk-ant-1234567890"
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	c, err := llm.New(llm.Config{BaseURL: s.URL + "/v1", APIKey: m.Key, Endpoint: llm.Messages, MaxRetries: -1})
	require.NoError(t, err)
	return c
}

// A request reaches Messages as that protocol wants it: the system prompt and the stops have fields
// of their own, and a 1, which newer models refuse, is not sent.
func TestMessages(t *testing.T) {
	say := func(prompt string) (string, string) { return strings.Repeat("Four. ", 20) + prompt, "max_tokens" }
	c := messages(t, &llmtest.Messages{Say: say, Schemas: true})
	resp, err := c.Complete(t.Context(), llm.Request{
		Model: "claude", Temperature: 1, TopP: 1, MaxTokens: 20, Stop: []string{"\n\nHuman:"},
		Messages: []llm.Message{{Role: "system", Content: "Add."}, {Role: "user", Content: "2+2"}},
		Schema:   llm.Schema{Name: "sum", JSON: `{"type":"object"}`},
		Extra:    map[string]any{"output_config": map[string]any{}},
	})
	want := llm.Response{Text: strings.Repeat("Four. ", 20) + "2+2", HasText: true, FinishReason: llm.FinishLength, PromptTokens: 12, CompletionTokens: 6, Model: "claude"}
	if err != nil || resp != want {
		t.Errorf("%+v, %v", resp, err)
	}
	for said, want := range map[string]llm.Response{
		"end_turn": {Text: "x", HasText: true, FinishReason: "stop"}, "stop_sequence": {Text: "x", HasText: true, FinishReason: "stop"},
		"refusal": {FinishReason: llm.FinishContentFilter}, "pause_turn": {Text: "x", HasText: true, FinishReason: llm.FinishLength},
		"model_context_window_exceeded": {Text: "x", HasText: true, FinishReason: llm.FinishLength},
	} {
		c := messages(t, &llmtest.Messages{Say: func(string) (string, string) { return "x", said }})
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
		client := messages(t, &llmtest.Messages{Old: c.old})
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
	_, err := messages(t, &llmtest.Messages{}).Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", Temperature: 1.5, TopP: 1, MaxTokens: 9})
	if !isKind(err, llm.ErrInvalidRequest) || !strings.Contains(err.Error(), "at most 1") {
		t.Error(err)
	}
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
		client := messages(t, &llmtest.Messages{Fail: func(http.Header, string) (int, string, string) { return c.status, c.kind, c.message }})
		_, err := client.Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", Temperature: 1, TopP: 1, MaxTokens: 9})
		if !isKind(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sk-ant") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

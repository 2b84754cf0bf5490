package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// wantKind wants a client's error of this kind that says these things.
func wantKind(t testing.TB, err, kind error, says ...string) *llm.Error {
	t.Helper()
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, kind)
	require.Equal(t, kind, e.Kind)
	for _, s := range says {
		assert.ErrorContains(t, err, s)
	}
	return e
}

func ExampleClient_Complete() {
	// A test double; a program uses a real server's address here.
	h := &llmtest.Handler{Answer: func(*llmtest.Request) string { return "Snow lay upon the town." }}
	client, err := llm.New(llm.Config{BaseURL: "http://127.0.0.1:8000/v1", Transport: h.Transport()})
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Complete(context.Background(), llm.Request{
		Model: "some-model", Prompt: "Say otherwise: The town was covered in snow.",
		Temperature: 1, TopP: 0.9, MaxTokens: 64,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if !resp.HasText {
		fmt.Println("no answer:", resp.FinishReason)
		return
	}
	fmt.Println(resp.Text, resp.FinishReason, resp.PromptTokens, resp.CompletionTokens)
	// Output: Snow lay upon the town. stop 8 5
}

func TestAnswers(t *testing.T) {
	const chatParts = `{"model":"m","choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`
	said := "Done."
	for _, tc := range []struct {
		name  string
		fault llmtest.Fault
		only  llm.Endpoint
		want  llm.Response
	}{
		{name: "good", fault: llmtest.Finish("stop", "two words"), want: llm.Response{Text: "two words", HasText: true, FinishReason: "stop", CompletionTokens: 2}},
		{name: "cut", fault: llmtest.Finish("length", "cut he"), want: llm.Response{Text: "cut he", HasText: true, FinishReason: "length", CompletionTokens: 2}},
		{name: "empty", fault: llmtest.Finish("stop", ""), want: llm.Response{HasText: true, FinishReason: "stop"}},
		{name: "filtered", fault: llmtest.Finish("content_filter", ""), want: llm.Response{FinishReason: "content_filter"}},
		{name: "blocked prompt", fault: llmtest.PromptBlocked(), want: llm.Response{FinishReason: "content_filter"}},
		{name: "null", fault: llmtest.Apart(nil, "stop", nil), want: llm.Response{HasText: true, FinishReason: "stop"}},
		{name: "refusal", fault: llmtest.Apart(nil, "stop", map[string]any{"refusal": "No."}), only: llm.Chat, want: llm.Response{FinishReason: "content_filter"}},
		{name: "no finish reason", fault: llmtest.Body(200, "application/json", `{"model":"m","choices":[{"text":"t","message":{"content":"t"},"finish_reason":null}],"error":null}`), want: llm.Response{Text: "t", HasText: true}},
		{name: "parts", fault: llmtest.Body(200, "application/json", chatParts), only: llm.Chat, want: llm.Response{Text: "ab", HasText: true, FinishReason: "stop"}},
		{name: "parts without text", fault: llmtest.Body(200, "application/json", strings.ReplaceAll(chatParts, `"text",`, `"image_url",`)), only: llm.Chat, want: llm.Response{HasText: true, FinishReason: "stop"}},
		{name: "reasoning apart", fault: llmtest.Apart(&said, "stop", map[string]any{"reasoning_content": "Hm."}), only: llm.Chat, want: llm.Response{Text: "Done.", HasText: true, FinishReason: "stop", CompletionTokens: 1}},
		{name: "only reasoning, cut", fault: llmtest.Apart(nil, "length", map[string]any{"reasoning_content": "Hm"}), only: llm.Chat, want: llm.Response{HasText: true, FinishReason: "length"}},
		{name: "only reasoning", fault: llmtest.Apart(nil, "stop", map[string]any{"reasoning": "Hm."}), only: llm.Chat, want: llm.Response{HasText: true, FinishReason: llm.FinishReasoning}},
		{name: "no reasoning, null", fault: llmtest.Apart(nil, "stop", map[string]any{"reasoning": ""}), only: llm.Chat, want: llm.Response{HasText: true, FinishReason: "stop"}},
		{name: "reasoning among parts", fault: llmtest.Body(200, "application/json", strings.Replace(chatParts, `"text","text":"a"`, `"thinking","thinking":[{"type":"text","text":"Hm."}]`, 1)), only: llm.Chat, want: llm.Response{Text: "b", HasText: true, FinishReason: "stop"}},
		{name: "counts with a point", fault: counted(`{"prompt_tokens":3.0,"completion_tokens":7.0}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop", CompletionTokens: 7}},
		{name: "counts as texts", fault: counted(`{"prompt_tokens":"3","completion_tokens":"7"}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop", CompletionTokens: 7}},
		{name: "cached tokens left out", fault: counted(`{"prompt_tokens":1,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":2}}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop", PromptTokens: 3, CompletionTokens: 7}},
		{name: "counts that are none", fault: counted(`{"prompt_tokens":null,"completion_tokens":{"all":7}}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop"}},
		{name: "counts in no object", fault: counted(`"none"`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop"}},
		{name: "counts in half", fault: counted(`{"completion_tokens":7.5}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop"}},
		{name: "an odd object", fault: llmtest.Body(200, "application/json", `{"object":7,"model":"m","choices":[{"text":"t","message":{"content":"t"},"finish_reason":"stop"}]}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop"}},
		{name: "byte order mark", fault: llmtest.Body(200, "application/json", "\ufeff"+`{"model":"m","choices":[{"text":"t","message":{"content":"t"},"finish_reason":"stop"}]}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop"}},
		{name: "cut, as Gemini says it", fault: llmtest.Finish("MAX_TOKENS", "cut he"), want: llm.Response{Text: "cut he", HasText: true, FinishReason: "length", CompletionTokens: 2}},
		{name: "cut, as Mistral says it", fault: llmtest.Finish("model_length", "cut he"), want: llm.Response{Text: "cut he", HasText: true, FinishReason: "length", CompletionTokens: 2}},
		{name: "filtered, as Gemini says it", fault: llmtest.Finish("SAFETY", "cut he"), want: llm.Response{FinishReason: "content_filter", CompletionTokens: 2}},
		{name: "an unknown reason", fault: llmtest.Finish("eos", "two words"), want: llm.Response{Text: "two words", HasText: true, FinishReason: "eos", CompletionTokens: 2}},
		{name: "parts of output", fault: llmtest.Body(200, "application/json", strings.ReplaceAll(chatParts, `"text",`, `"output_text",`)), only: llm.Chat, want: llm.Response{Text: "ab", HasText: true, FinishReason: "stop"}},
		{name: "an error of empty fields", fault: llmtest.Body(200, "application/json", `{"model":"m","choices":[{"text":"t","message":{"content":"t"},"finish_reason":"stop"}],"error":{"message":"","type":"","param":"","code":null}}`), want: llm.Response{Text: "t", HasText: true, FinishReason: "stop"}},
		{name: "spaces are kept", fault: llmtest.Finish("stop", "\n  x \t"), want: llm.Response{Text: "\n  x \t", HasText: true, FinishReason: "stop", CompletionTokens: 1}},
	} {
		for _, endpoint := range endpoints {
			if tc.only != "" && tc.only != endpoint {
				continue
			}
			t.Run(tc.name+"/"+string(endpoint), func(t *testing.T) {
				h := &llmtest.Handler{}
				h.Fail(tc.fault)
				req := request("three word prompt")
				req.Model = "m"
				got, err := local(t, h, func(cfg *llm.Config) { cfg.Endpoint = endpoint }).Complete(t.Context(), req)
				require.NoError(t, err)
				want := tc.want
				want.Model = got.Model
				assert.Equal(t, tc.name == "blocked prompt", got.Model != "m", got.Model)
				assert.False(t, got.PromptTokens != 0 && got.PromptTokens != 3, "%d prompt tokens", got.PromptTokens)
				want.PromptTokens = got.PromptTokens
				assert.Equal(t, want, got)
				assert.Equal(t, 1, h.Calls())
			})
		}
	}
}

// counted returns a good answer with this usage.
func counted(usage string) llmtest.Fault {
	return llmtest.Body(200, "application/json", `{"model":"m","choices":[{"text":"t","message":{"content":"t"},"finish_reason":"stop"}],"usage":`+usage+`}`)
}

// A server that broke off its answer is asked again. One whose model reasoned up to its limit is
// not reported as another kind of server.
func TestAnswersThatEndBefore(t *testing.T) {
	h := &llmtest.Handler{}
	h.Fail(llmtest.Finish("insufficient_system_resource", "half an"), llmtest.Finish("network_error", ""), llmtest.Finish("stop", "whole"))
	if got, err := quick(t, h).Complete(t.Context(), request("p")); err != nil || got.Text != "whole" || h.Calls() != 3 {
		t.Errorf("got %+v after %d calls, %v", got, h.Calls(), err)
	}
	h = &llmtest.Handler{}
	h.Fail(llmtest.Body(200, "application/json", `{"choices":[],"usage":{"prompt_tokens":9}}`))
	_, err := local(t, h, func(cfg *llm.Config) { cfg.MaxRetries = -1 }).Complete(t.Context(), request("p"))
	wantKind(t, err, llm.ErrBadAnswer, "without choices", "--max-tokens")
}

// Cases that need real sockets, because the in-process transport only imitates them.
func TestConnections(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault llmtest.Fault
		kind  error
		says  string
	}{
		{"reset", llmtest.Reset(), llm.ErrUnavailable, "cannot be reached"},
		{"truncated", llmtest.Truncated(), llm.ErrUnavailable, "broke off its answer after 2 attempts: unexpected EOF"},
		{"hang", llmtest.Hang(), llm.ErrTimeout, "gave no whole answer within 200ms after 2 attempts"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := llmtest.NewServer(t, nil)
			srv.Fail(tc.fault, tc.fault)
			cfg := llm.Config{BaseURL: srv.BaseURL, MaxRetries: 1, MaxRetryWait: time.Millisecond}
			if tc.kind == llm.ErrTimeout {
				cfg.Timeout = 200 * time.Millisecond
			}
			c, err := llm.New(cfg)
			require.NoError(t, err)
			_, err = c.Complete(t.Context(), request("p"))
			wantKind(t, err, tc.kind, tc.says, srv.BaseURL)
			assert.False(t, errors.Is(err, context.DeadlineExceeded), "a limit on one attempt looks like the caller's deadline")
			assert.Equal(t, 2, srv.Calls())
		})
	}
}

func TestPlainServerAtSecureAddress(t *testing.T) {
	srv := llmtest.NewServer(t, nil)
	c, err := llm.New(llm.Config{BaseURL: strings.Replace(srv.BaseURL, "http:", "https:", 1)})
	require.NoError(t, err)
	_, err = c.Complete(t.Context(), request("p"))
	var e *llm.Error
	assert.True(t, errors.As(err, &e) && e.Attempts == 1 && strings.Contains(e.Hint, "http://"), "error %v", err)
}

func TestCancelEndsAtOnce(t *testing.T) {
	srv := llmtest.NewServer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	srv.Fail(func(_ http.ResponseWriter, r *llmtest.Request) {
		cancel()
		<-r.Context().Done()
	})
	c, err := llm.New(llm.Config{BaseURL: srv.BaseURL})
	require.NoError(t, err)
	for range 2 {
		_, err := c.Complete(ctx, request("p"))
		assert.ErrorIs(t, err, context.Canceled)
	}
	assert.Equal(t, 1, srv.Calls())
}

// Invalid Unicode, which encoding/json would silently replace, is detected and kept.
func TestTextThatIsNotUnicode(t *testing.T) {
	for text, want := range map[string]string{
		`"a \ud83d b"`:                      `"a \ud83d b"`,
		`"\udE00\ud83d"`:                    `"\udE00\ud83d"`,
		"\"bytes \xff\xc3 and \\n é\"":      `"bytes \xff\xc3 and \n é"`,
		`[{"type":"text","text":"\udc00"}]`: `[{"type":"text","text":"\udc00"}]`,
		`"\ud83d\ude00 and \ufffd �"`:       "",
	} {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Body(200, "application/json", `{"choices":[{"message":{"content":`+text+`},"finish_reason":"stop"}],"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":4}}`))
		r, err := local(t, h, nil).Complete(t.Context(), request("p"))
		switch {
		case err != nil || r.PromptTokens != 0 || r.CompletionTokens != 4:
			t.Errorf("%s: %+v, %v", text, r, err)
		case want == "" && (r.FinishReason != "stop" || r.Text != "😀 and � �"):
			t.Errorf("%s: %+v", text, r)
		case want != "" && (r.FinishReason != llm.FinishNotUnicode || r.Text != want):
			t.Errorf("%s: %+v", text, r)
		}
	}
}

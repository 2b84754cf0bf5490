package llm_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/google/go-cmp/cmp"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// wire makes one call over a socket, and returns the body that the server received.
func wire(t *testing.T, endpoint llm.Endpoint, req llm.Request) string {
	t.Helper()
	srv := llmtest.NewServer(t, nil)
	c, err := llm.New(llm.Config{BaseURL: srv.BaseURL, Endpoint: endpoint})
	require.NoError(t, err)
	_, err = c.Complete(t.Context(), req)
	require.NoError(t, err)
	body, err := c.Body(req)
	require.NoError(t, err)
	got := srv.Requests()[0].Raw
	if !bytes.Equal(body, got) {
		t.Errorf("Body gives %s, sent was %s", body, got)
	}
	return string(got)
}

// Bodies are compared byte for byte.
func TestBodiesOnTheWire(t *testing.T) {
	for _, tc := range []struct {
		name     string
		endpoint llm.Endpoint
		req      llm.Request
		want     string
	}{
		{
			"plain", llm.Chat,
			llm.Request{Model: "m", Prompt: "Say \"it\" <otherwise> & well:\nä 雪", TopP: 1, MaxTokens: 8},
			`{"max_tokens":8,"messages":[{"role":"user","content":"Say \"it\" \u003cotherwise\u003e \u0026 well:\nä 雪"}],"model":"m","stream":false,"temperature":0,"top_p":1}`,
		},
		{
			"numbers of 64 bits, a seed of 0", llm.Chat,
			llm.Request{Model: "o1-mini", Prompt: "p", Temperature: 0.30000000000000004, TopP: 1e-7, MaxTokens: 8, Extra: map[string]any{"seed": 0}, Stop: []string{"\n"}},
			`{"max_tokens":8,"messages":[{"role":"user","content":"p"}],"model":"o1-mini","seed":0,"stop":["\n"],"stream":false,"temperature":0.30000000000000004,"top_p":1e-7}`,
		},
		{
			"messages", llm.Chat,
			llm.Request{Model: "m", Messages: []llm.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "p"}, {Role: "assistant", Content: "a"}, {Role: "user", Content: "q"}}, TopP: 1, MaxTokens: 8},
			`{"max_tokens":8,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"p"},{"role":"assistant","content":"a"},{"role":"user","content":"q"}],"model":"m","stream":false,"temperature":0,"top_p":1}`,
		},
		{
			"extra fields", llm.Chat,
			llm.Request{Model: "m", Prompt: "p", TopP: 1, MaxTokens: 8, Extra: map[string]any{
				"structured_outputs": map[string]any{"choice": []string{"yes", "no"}}, "top_k": -1, "repetition_penalty": 1.1,
			}},
			`{"max_tokens":8,"messages":[{"role":"user","content":"p"}],"model":"m","repetition_penalty":1.1,"stream":false,"structured_outputs":{"choice":["yes","no"]},"temperature":0,"top_k":-1,"top_p":1}`,
		},
		{
			"plain", llm.Completions,
			llm.Request{Model: "gpt-4", Prompt: "p", TopP: 0.9, MaxTokens: 8},
			`{"max_tokens":8,"model":"gpt-4","prompt":"p","stream":false,"temperature":0,"top_p":0.9}`,
		},
	} {
		t.Run(string(tc.endpoint)+"/"+tc.name, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(tc.want, wire(t, tc.endpoint, tc.req)))
		})
	}
}

func TestEmbeddingsOnTheWire(t *testing.T) {
	srv := llmtest.NewServer(t, nil)
	c, err := llm.New(llm.Config{BaseURL: srv.BaseURL, APIKey: "k"})
	require.NoError(t, err)
	for _, tc := range []struct {
		req  llm.EmbedRequest
		want string
	}{
		{llm.EmbedRequest{Model: "text-embedding-x", Texts: []string{"a", "b <c>"}}, `{"input":["a","b \u003cc\u003e"],"model":"text-embedding-x","encoding_format":"base64"}`},
		{llm.EmbedRequest{Model: "m", Texts: []string{"a"}, Dimensions: 3}, `{"input":["a"],"model":"m","encoding_format":"base64","dimensions":3}`},
	} {
		resp, err := c.Embed(t.Context(), tc.req)
		require.NoError(t, err)
		all := srv.Requests()
		r := all[len(all)-1]
		if got := string(r.Raw); got != tc.want || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("sent %s to %s, want %s", got, r.URL.Path, tc.want)
		}
		size := max(64*(1-tc.req.Dimensions), tc.req.Dimensions)
		if resp.Model != tc.req.Model || resp.PromptTokens == 0 || len(resp.Vectors) != len(tc.req.Texts) {
			t.Errorf("got %+v", resp)
		}
		for i, text := range tc.req.Texts {
			assert.Empty(t, cmp.Diff(llmtest.Vector(text, size), resp.Vectors[i]), "vector of %q", text)
		}
	}
}

func TestPromptsThatAreNotSent(t *testing.T) {
	for _, tc := range []struct {
		endpoint llm.Endpoint
		change   func(*llm.Request)
		says     string
	}{
		{llm.Chat, func(r *llm.Request) { r.Messages = []llm.Message{{Role: "user", Content: "p"}} }, "both a prompt and messages"},
		{llm.Chat, func(r *llm.Request) { r.Prompt, r.Messages = "", []llm.Message{{Role: "user"}} }, "message 1 has no role or no content"},
		{llm.Chat, func(r *llm.Request) { r.Prompt, r.Messages = "", []llm.Message{{Role: "user", Content: "\xff"}} }, "message 1 is not valid UTF-8"},
		{llm.Completions, func(r *llm.Request) { r.Prompt, r.Messages = "", []llm.Message{{Role: "user", Content: "p"}} }, `takes a prompt, not messages`},
		{llm.Chat, func(r *llm.Request) { r.Extra = map[string]any{"temperature": 1} }, `the extra field "temperature"`},
		{llm.Chat, func(r *llm.Request) { r.Extra = map[string]any{"n": 2} }, `the extra field "n"`},
		{llm.Chat, func(r *llm.Request) { r.Extra = map[string]any{"": 2} }, "extra field is empty"},
		{llm.Chat, func(r *llm.Request) { r.Extra = map[string]any{"x": math.NaN()} }, "cannot be written as JSON"},
	} {
		h := &llmtest.Handler{}
		c := local(t, h, func(cfg *llm.Config) { cfg.Endpoint = tc.endpoint })
		req := request("p")
		tc.change(&req)
		if _, err := c.Complete(t.Context(), req); !isKind(err, llm.ErrInvalidRequest) || !strings.Contains(err.Error(), "was not called: ") || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("error %v, want %q", err, tc.says)
		}
		if _, err := c.Body(req); !isKind(err, llm.ErrInvalidRequest) || h.Calls() != 0 {
			t.Errorf("Body: error %v, %d calls", err, h.Calls())
		}
	}
}

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "four": 1, "fives": 2, "雪が降る": 4, "Straße": 3} {
		if got := llm.EstimateTokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

package llm_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

var endpoints = []llm.Endpoint{llm.Chat, llm.Completions}

// request returns a valid request for tests that vary something else.
func request(prompt string) llm.Request {
	return llm.Request{Model: "test-model", Prompt: prompt, Temperature: 1, TopP: 0.9, MaxTokens: 64}
}

// local returns a client of h without a network.
func local(t testing.TB, h *llmtest.Handler, change func(*llm.Config)) *llm.Client {
	t.Helper()
	cfg := llm.Config{BaseURL: "http://127.0.0.1:8000/v1", Transport: h.Transport()}
	if change != nil {
		change(&cfg)
	}
	c, err := llm.New(cfg)
	require.NoError(t, err)
	return c
}

// sent returns the fields of the last request's body, as they were written.
func sent(t testing.TB, h *llmtest.Handler) map[string]json.RawMessage {
	t.Helper()
	all := h.Requests()
	require.NotEmpty(t, all, "nothing was sent")
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(all[len(all)-1].Raw, &fields))
	return fields
}

func TestRequestOnTheWire(t *testing.T) {
	for _, endpoint := range endpoints {
		t.Run(string(endpoint), func(t *testing.T) {
			h := &llmtest.Handler{}
			c := local(t, h, func(cfg *llm.Config) {
				cfg.BaseURL = "http://host.test/v1/?api-version=2&tenant=blue"
				cfg.Endpoint, cfg.APIKey, cfg.UserAgent = endpoint, "sk-secret-key", "refract/1"
			})
			_, err := c.Complete(t.Context(), request("One\nprompt."))
			require.NoError(t, err)
			r := h.Requests()[0]
			path := map[llm.Endpoint]string{llm.Chat: "/v1/chat/completions", llm.Completions: "/v1/completions"}[endpoint]
			if r.URL.Path != path || r.URL.RawQuery != "api-version=2&tenant=blue" {
				t.Errorf("sent to %s?%s", r.URL.Path, r.URL.RawQuery)
			}
			for name, want := range map[string]string{
				"Authorization": "Bearer sk-secret-key", "User-Agent": "refract/1", "Content-Type": "application/json",
			} {
				assert.Equal(t, want, r.Header.Get(name), "header %s", name)
			}
			assert.Equal(t, int64(len(r.Raw)), r.ContentLength, "Content-Length %d for %d bytes", r.ContentLength, len(r.Raw))
		})
	}
}

// Newer models of OpenAI refuse max_tokens by name. The client learns the other name from the
// refusal, once per model.
func TestMaxCompletionTokens(t *testing.T) {
	const refusal = `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",` +
		`"type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`
	h := &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault {
		var body map[string]any
		if json.Unmarshal(r.Raw, &body) == nil && body["max_tokens"] != nil && r.Model == "gpt-5" {
			return llmtest.Body(400, "application/json", refusal)
		}
		return nil
	}}
	c := local(t, h, nil)
	req := request("p")
	req.Model = "gpt-5"
	for call, wantCalls := range []int{2, 3} {
		_, err := c.Complete(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, wantCalls, h.Calls(), "call %d", call)
		body := sent(t, h)
		if string(body["max_completion_tokens"]) != "64" || body["max_tokens"] != nil {
			t.Errorf("call %d sent %s", call, body)
		}
	}
	_, err := c.Complete(t.Context(), request("p"))
	require.NoError(t, err)
	assert.Equal(t, "64", string(sent(t, h)["max_tokens"]), "what was learnt of one model changed another")
}

// A refused parameter is recognised by its name, but not if its value is out of range or it is named
// for another reason. Omitted parameters are not sent.
func TestRefusedParameter(t *testing.T) {
	for _, c := range []struct{ message, param, code, want string }{
		{"Unsupported parameter: 'top_p' is not supported with this model.", "top_p", "unsupported_parameter", "top_p"},
		{"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", "temperature", "unsupported_value", "temperature"},
		{"`temperature` is deprecated for this model.", "", "", "temperature"},
		{"`temperature` and `top_p` cannot both be specified for this model.", "", "", "top_p"},
		{"Unrecognized request argument supplied: top_p", "", "", "top_p"},
		{"Unrecognized request argument supplied: top_padding", "", "", ""},
		{"top_p must be in (0, 1], got 0.0.", "top_p", "", ""},
		{"Unsupported parameter: 'max_tokens'.", "max_tokens", "unsupported_parameter", ""},
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": c.message, "param": c.param, "code": c.code}})
		require.NoError(t, err)
		h := &llmtest.Handler{}
		h.Fail(llmtest.Body(400, "application/json", string(body)))
		client := local(t, h, nil)
		_, err = client.Complete(t.Context(), request("p"))
		var e *llm.Error
		assert.True(t, errors.As(err, &e) && e.Refuses == c.want, "%s: %q, want %q", c.message, e.Refuses, c.want)
		req := request("p")
		req.Omit = []string{llm.ParamTopP}
		if _, err := client.Complete(t.Context(), req); err != nil || sent(t, h)["top_p"] != nil || sent(t, h)["temperature"] == nil {
			t.Errorf("sent %s, %v", sent(t, h), err)
		}
	}
}

// Texts and numbers arrive unchanged, to the rune and to the bit.
func TestNothingChangesOnTheWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		endpoint := rapid.SampledFrom(endpoints).Draw(rt, "endpoint")
		h := &llmtest.Handler{Answer: func(r *llmtest.Request) string { return r.Prompt }}
		c := local(t, h, func(cfg *llm.Config) { cfg.Endpoint = endpoint })
		req := llm.Request{
			Model:       rapid.StringN(1, 20, -1).Draw(rt, "model"),
			Prompt:      rapid.StringN(1, 80, -1).Draw(rt, "prompt"),
			Temperature: rapid.Float64Range(0, 2).Draw(rt, "temperature"),
			TopP:        rapid.Float64Range(0, 1).Draw(rt, "top_p"),
			MaxTokens:   rapid.IntRange(100, 1<<30).Draw(rt, "max_tokens"),
		}
		resp, err := c.Complete(t.Context(), req)
		require.NoError(rt, err)
		assert.True(rt, resp.HasText && resp.Text == req.Prompt, "prompt %q came back as %q", req.Prompt, resp.Text)
		r := h.Requests()[0]
		if r.Model != req.Model || r.Prompt != req.Prompt || r.MaxTokens != req.MaxTokens ||
			math.Float64bits(*r.Temperature) != math.Float64bits(req.Temperature) ||
			math.Float64bits(*r.TopP) != math.Float64bits(req.TopP) {
			rt.Errorf("sent %+v, arrived %s", req, r.Raw)
		}
	})
}

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
	assert.Equal(t, got, body, "Body gives %s, sent was %s", body, got)
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

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "four": 1, "fives": 2, "雪が降る": 4, "Straße": 3} {
		assert.Equal(t, want, llm.EstimateTokens(text), text)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	asMessages := func(role, content string) func(*llm.Request) {
		return func(r *llm.Request) { r.Prompt, r.Messages = "", []llm.Message{{Role: role, Content: content}} }
	}
	extra := func(name string, value any) func(*llm.Request) {
		return func(r *llm.Request) { r.Extra = map[string]any{name: value} }
	}
	for _, tc := range []struct {
		endpoint llm.Endpoint
		change   func(*llm.Request)
		says     string
	}{
		{llm.Chat, func(r *llm.Request) { r.Model = "" }, "names no model"},
		{llm.Chat, func(r *llm.Request) { r.Model = "a\xff" }, "model name is not valid UTF-8"},
		{llm.Chat, func(r *llm.Request) { r.Prompt = "" }, "the prompt is empty"},
		{llm.Chat, func(r *llm.Request) { r.Prompt = "a\xff" }, "prompt is not valid UTF-8"},
		{llm.Chat, func(r *llm.Request) { r.MaxTokens = 0 }, "max_tokens is 0"},
		{llm.Chat, func(r *llm.Request) { r.Temperature = -1 }, "temperature is -1"},
		{llm.Chat, func(r *llm.Request) { r.Temperature = math.NaN() }, "temperature is NaN"},
		{llm.Chat, func(r *llm.Request) { r.Temperature = math.Inf(1) }, "temperature is +Inf"},
		{llm.Chat, func(r *llm.Request) { r.TopP = 1.1 }, "top_p is 1.1"},
		{llm.Chat, func(r *llm.Request) { r.TopP = math.NaN() }, "top_p is NaN"},
		{llm.Chat, func(r *llm.Request) { r.Stop = []string{""} }, "stop string 1"},
		{llm.Chat, func(r *llm.Request) { r.Stop = []string{"ok", "\xc3"} }, "stop string 2"},
		{llm.Chat, func(r *llm.Request) { r.Messages = []llm.Message{{Role: "user", Content: "p"}} }, "both a prompt and messages"},
		{llm.Chat, asMessages("user", ""), "message 1 has no role or no content"},
		{llm.Chat, asMessages("user", "\xff"), "message 1 is not valid UTF-8"},
		{llm.Completions, asMessages("user", "p"), "takes a prompt, not messages"},
		{llm.Chat, extra("temperature", 1), `the extra field "temperature"`},
		{llm.Chat, extra("n", 2), `the extra field "n"`},
		{llm.Chat, extra("", 2), "extra field is empty"},
		{llm.Chat, extra("x", math.NaN()), "cannot be written as JSON"},
		{llm.Completions, extra("echo", true), `the extra field "echo"`},
		{llm.Chat, func(r *llm.Request) { *r = scored("p") }, `only be asked for at the endpoint "completions"; the client is set to "chat"`},
		{llm.Completions, func(r *llm.Request) { r.PromptLogprobs = true }, "max_tokens is 64; it must be 1"},
		{llm.Completions, func(r *llm.Request) { *r = scored("p"); extra("logprobs", 5)(r) }, `the extra field "logprobs"`},
	} {
		h := &llmtest.Handler{}
		c := local(t, h, func(cfg *llm.Config) { cfg.Endpoint = tc.endpoint })
		req := request("p")
		tc.change(&req)
		_, err := c.Complete(t.Context(), req)
		wantKind(t, err, llm.ErrInvalidRequest, "was not called: ", tc.says)
		_, err = c.Body(req)
		wantKind(t, err, llm.ErrInvalidRequest)
		assert.Zero(t, h.Calls())
	}
}

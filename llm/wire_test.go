package llm_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"pgregory.net/rapid"
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
	if len(all) == 0 {
		t.Fatal("nothing was sent")
	}
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
			req := request("One\nprompt.")
			req.Stop, req.Extra = []string{"\n\n", "END"}, map[string]any{"seed": 7}
			_, err := c.Complete(t.Context(), req)
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
			if r.ContentLength != int64(len(r.Raw)) {
				t.Errorf("Content-Length %d for %d bytes", r.ContentLength, len(r.Raw))
			}
			body := sent(t, h)
			want := map[string]string{"stop": `["\n\n","END"]`, "seed": "7", "stream": "false"}
			if endpoint == llm.Chat {
				want["messages"] = `[{"role":"user","content":"One\nprompt."}]`
			} else {
				want["prompt"] = `"One\nprompt."`
			}
			for name, v := range want {
				assert.Equal(t, v, string(body[name]), name)
			}

			_, err = c.Complete(t.Context(), request("p"))
			require.NoError(t, err)
			for _, name := range []string{"seed", "stop"} {
				if got, ok := sent(t, h)[name]; ok {
					t.Errorf("%s is sent unasked: %s", name, got)
				}
			}
		})
	}
}

func TestModelsThatTheLibraryRefuses(t *testing.T) {
	names := []string{
		"gpt-5", "gpt-6-sol", "o1", "o3-mini", "gpt-4o", "gpt-3.5-turbo", "text-davinci-003", "code-davinci-002",
	}
	for _, endpoint := range endpoints {
		h := &llmtest.Handler{}
		c := local(t, h, func(cfg *llm.Config) { cfg.Endpoint = endpoint })
		for _, name := range names {
			req := request("p")
			req.Model, req.Temperature = name, 0.3
			resp, err := c.Complete(t.Context(), req)
			if err != nil {
				t.Errorf("%s, %s: %v", endpoint, name, err)
				continue
			}
			if got := string(sent(t, h)["model"]); got != strconv.Quote(name) || resp.Model != name {
				t.Errorf("%s: the model on the wire is %s, in the answer %q", name, got, resp.Model)
			}
		}
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
		if !errors.As(err, &e) || e.Refuses != c.want {
			t.Errorf("%s: %q, want %q", c.message, e.Refuses, c.want)
		}
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
		if !resp.HasText || resp.Text != req.Prompt {
			rt.Errorf("prompt %q came back as %q", req.Prompt, resp.Text)
		}
		r := h.Requests()[0]
		if r.Model != req.Model || r.Prompt != req.Prompt || r.MaxTokens != req.MaxTokens ||
			math.Float64bits(*r.Temperature) != math.Float64bits(req.Temperature) ||
			math.Float64bits(*r.TopP) != math.Float64bits(req.TopP) {
			rt.Errorf("sent %+v, arrived %s", req, r.Raw)
		}
	})
}

func TestRequestsThatAreNotSent(t *testing.T) {
	for name, change := range map[string]func(*llm.Request){
		"no model":            func(r *llm.Request) { r.Model = "" },
		"no prompt":           func(r *llm.Request) { r.Prompt = "" },
		"prompt not UTF-8":    func(r *llm.Request) { r.Prompt = "a\xff" },
		"model not UTF-8":     func(r *llm.Request) { r.Model = "a\xff" },
		"no token limit":      func(r *llm.Request) { r.MaxTokens = 0 },
		"negative":            func(r *llm.Request) { r.Temperature = -1 },
		"NaN":                 func(r *llm.Request) { r.Temperature = math.NaN() },
		"infinite":            func(r *llm.Request) { r.Temperature = math.Inf(1) },
		"top_p too large":     func(r *llm.Request) { r.TopP = 1.1 },
		"top_p NaN":           func(r *llm.Request) { r.TopP = math.NaN() },
		"empty stop string":   func(r *llm.Request) { r.Stop = []string{""} },
		"stop that is broken": func(r *llm.Request) { r.Stop = []string{"ok", "\xc3"} },
	} {
		h := &llmtest.Handler{}
		req := request("p")
		change(&req)
		if _, err := local(t, h, nil).Complete(t.Context(), req); !isKind(err, llm.ErrInvalidRequest) {
			t.Errorf("%s: error %v", name, err)
		}
		assert.Equal(t, 0, h.Calls(), "%s: the request was sent", name)
	}
}

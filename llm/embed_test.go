package llm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// Servers send vectors as numbers or base64, in any order.
func TestVectors(t *testing.T) {
	want := [][]float32{{1, -0.5}, {0.25, 3}}
	for name, data := range map[string]string{
		"numbers":      `{"index":0,"embedding":[1,-0.5]},{"index":1,"embedding":[0.25,3]}`,
		"packed":       `{"index":0,"embedding":"AACAPwAAAL8="},{"index":1,"embedding":"AACAPgAAQEA="}`,
		"0 left out":   `{"embedding":[1,-0.5]},{"index":1,"embedding":[0.25,3]}`,
		"0 later":      `{"index":1,"embedding":[0.25,3]},{"embedding":[1,-0.5]}`,
		"no index":     `{"embedding":[1,-0.5]},{"index":null,"embedding":[0.25,3]}`,
		"out of order": `{"index":1,"embedding":[0.25,3]},{"index":0,"embedding":"AACAPwAAAL8="}`,
	} {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Body(200, "application/json", `{"object":"list","model":"served","data":[`+data+`],"usage":{"prompt_tokens":5}}`))
		got, err := local(t, h, nil).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a", "b"}})
		diff := cmp.Diff(llm.EmbedResponse{Vectors: want, PromptTokens: 5, Model: "served"}, got)
		assert.True(t, err == nil && diff == "", "%s: %v, %s", name, err, diff)
	}
}

// A server without base64 is asked again without it, only once per model.
func TestVectorsUnpacked(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
	}{
		"vllm#6174":                 {400, `{"object":"error","message":"base64 encoding is not currently supported","type":"BadRequestError","param":null,"code":400}`},
		"a field that is not known": {422, `{"detail":[{"type":"extra_forbidden","loc":["body","encoding_format"],"msg":"Extra inputs are not permitted"}]}`},
	} {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Body(tc.status, "application/json", tc.body))
		c := local(t, h, nil)
		for range 2 {
			got, err := c.Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a", "b"}})
			assert.True(t, err == nil && len(got.Vectors) == 2, "%s: %v %v", name, got, err)
		}
		assert.Equal(t, 3, h.Calls(), name)
	}
	// An error that both forms have is reported once.
	h := &llmtest.Handler{}
	refused := llmtest.Body(400, "application/json", `{"error":{"message":"no encoding_format and no model"}}`)
	h.Fail(refused, refused)
	_, err := local(t, h, nil).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a"}})
	wantKind(t, err, llm.ErrInvalidRequest, "(400) after 2 attempts: no encoding_format")
	assert.Equal(t, 2, h.Calls())
}

func TestInvalidVectors(t *testing.T) {
	for name, tc := range map[string]struct{ body, says string }{
		"fewer":           {`{"data":[{"index":0,"embedding":[1]}]}`, "gave 1 vector for 2 texts"},
		"none":            {`{"data":[]}`, "gave 0 vectors"},
		"a chat answer":   {`{"choices":[{"message":{"content":"a"}}]}`, "gave 0 vectors"},
		"one text twice":  {`{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`, "do not match the texts"},
		"wrong index":     {`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "do not match the texts"},
		"other lengths":   {`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`, "a vector of 1 number instead of 2"},
		"empty":           {`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, "a vector of 0 numbers"},
		"all null":        {`{"data":[{"index":0,"embedding":null},{"index":1,"embedding":[1,null]}]}`, "no vector of finite numbers"},
		"half a number":   {`{"data":[{"index":0,"embedding":"AACA"},{"index":1,"embedding":"AACA"}]}`, "unexpected shape"},
		"not base64":      {`{"data":[{"index":0,"embedding":"?"},{"index":1,"embedding":"?"}]}`, "unexpected shape"},
		"not finite":      {`{"data":[{"index":0,"embedding":"AACAfw=="},{"index":1,"embedding":"AACAfw=="}]}`, "no vector of finite numbers"},
		"words":           {`{"data":[{"index":0,"embedding":["a"]},{"index":1,"embedding":[1]}]}`, "unexpected shape"},
		"an error inside": {`{"error":{"message":"no memory","code":500}}`, "no memory"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &llmtest.Handler{}
			h.Fail(llmtest.Body(200, "application/json", tc.body))
			_, err := local(t, h, func(cfg *llm.Config) { cfg.MaxRetries = -1 }).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a", "b"}})
			if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.HasPrefix(err.Error(), "server http://127.0.0.1:8000/v1 ") {
				t.Errorf("error %v, want %q", err, tc.says)
			}
			// It is retried like a chat.
			h.Fail(llmtest.Body(200, "application/json", tc.body), llmtest.Status(503, "busy"))
			_, err = quick(t, h).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a", "b"}})
			assert.NoError(t, err)
		})
	}
	h := &llmtest.Handler{}
	h.Fail(llmtest.Body(200, "application/json", `{"data":[{"index":0,"embedding":[1,2]}]}`))
	_, err := local(t, h, func(cfg *llm.Config) { cfg.MaxRetries = -1 }).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a"}, Dimensions: 3})
	wantKind(t, err, llm.ErrBadAnswer, "a vector of 2 numbers instead of 3")
	h.Fail(llmtest.ContextLength())
	_, err = local(t, h, nil).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a"}})
	wantKind(t, err, llm.ErrContextLength, "shorten the text")
	assert.NotContains(t, err.Error(), "max-tokens")
}

// A text for which the server gives no finite numbers has no vector, and the others have theirs.
func TestVectorsThatAreNotFinite(t *testing.T) {
	for _, bad := range []string{`null`, `[1,null]`, `[NaN,1]`, `[1,-Infinity]`, `[1e99,1]`, `"AACAfwAAgD8="`} {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Body(200, "application/json", `{"data":[{"index":0,"embedding":`+bad+`},{"index":1,"embedding":[1,2]}],"model":"NaN"}`))
		got, err := local(t, h, nil).Embed(t.Context(), llm.EmbedRequest{Model: "m", Texts: []string{"a", "b"}})
		if err != nil || got.Vectors[0] != nil || !slices.Equal(got.Vectors[1], []float32{1, 2}) || got.Model != "NaN" {
			t.Errorf("%s: %v %v", bad, got, err)
		}
	}
}

func TestTextsThatAreNotSent(t *testing.T) {
	h := &llmtest.Handler{}
	for _, req := range []llm.EmbedRequest{
		{Texts: []string{"a"}}, {Model: "m"}, {Model: "m", Texts: []string{"a", ""}},
		{Model: "m", Texts: []string{"\xff"}}, {Model: "m", Texts: []string{"a"}, Dimensions: -1},
	} {
		_, err := local(t, h, nil).Embed(t.Context(), req)
		wantKind(t, err, llm.ErrInvalidRequest)
		assert.Zero(t, h.Calls())
	}
}

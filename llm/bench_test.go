package llm_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// constant answers at once, with the same body.
func constant(body string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
			Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
		}, nil
	})
}

var (
	benchAnswer = `{"id":"test-1","object":"chat.completion","created":1,"model":"test-model","choices":[{"index":0,"finish_reason":"stop",` +
		`"logprobs":null,"message":{"role":"assistant","content":"` + strings.Repeat("The quiet river follows. ", 6) + `"}}],` +
		`"usage":{"prompt_tokens":40,"completion_tokens":30,"total_tokens":70}}`
	benchPrompt = "Say the following sentence in another way, keeping its meaning: " + strings.Repeat("the town lay under deep snow and ", 6)
)

// BenchmarkComplete is the client's own work: all steps but the connection.
func BenchmarkComplete(b *testing.B) {
	c, err := llm.New(llm.Config{BaseURL: "http://127.0.0.1:8000/v1", APIKey: "k", Transport: constant(benchAnswer)})
	if err != nil {
		b.Fatal(err)
	}
	req := request(benchPrompt)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Complete(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEmbed reads 32 vectors of 1024 numbers.
func BenchmarkEmbed(b *testing.B) {
	h := &llmtest.Handler{Dimensions: 1024}
	var texts []string
	for range 32 {
		texts = append(texts, benchPrompt[:40])
	}
	var body []byte
	c := local(b, h, func(cfg *llm.Config) {
		base := cfg.Transport
		cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := base.RoundTrip(r)
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				resp.Body = io.NopCloser(bytes.NewReader(body))
			}
			return resp, err
		})
	})
	req := llm.EmbedRequest{Model: "m", Texts: texts}
	if _, err := c.Embed(b.Context(), req); err != nil {
		b.Fatal(err)
	}
	c = local(b, h, func(cfg *llm.Config) { cfg.Transport = constant(string(body)) })
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Embed(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

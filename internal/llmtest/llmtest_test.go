package llmtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func ExampleHandler_Fail() {
	h := &llmtest.Handler{}
	h.Fail(llmtest.Status(503, "busy"), llmtest.Reset())
	client, err := llm.New(llm.Config{BaseURL: "http://test/v1", Transport: h.Transport(), MaxRetryWait: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Complete(context.Background(), llm.Request{Model: "m", Prompt: "p", TopP: 1, MaxTokens: 20})
	fmt.Println(resp.Text == llmtest.Answer("m", "p", 0), err, h.CallsFor("p"))
	// Output: true <nil> 3
}

func TestAnswersAreToldApart(t *testing.T) {
	seen := map[string]string{}
	for _, model := range []string{"a", "b"} {
		for _, prompt := range []string{"", "p", "p ", "q"} {
			for sample := range 3 {
				answer := llmtest.Answer(model, prompt, sample)
				if answer != llmtest.Answer(model, prompt, sample) {
					t.Error("not deterministic")
				}
				id := fmt.Sprintf("%q %q %d", model, prompt, sample)
				if other, ok := seen[answer]; ok {
					t.Errorf("%s and %s have the same answer", id, other)
				}
				seen[answer] = id
			}
		}
	}
}

// Both ways of serving do the same: over a socket and without a network.
func TestServing(t *testing.T) {
	for _, way := range []string{"socket", "in process"} {
		t.Run(way, func(t *testing.T) {
			h := &llmtest.Handler{Key: "k", CountSamples: true}
			base, transport := "http://test/v1", h.Transport()
			if way == "socket" {
				base, transport = llmtest.NewServer(t, h).BaseURL, nil
			}
			ask := func(key, prompt string, extra map[string]any) (llm.Response, error) {
				c, err := llm.New(llm.Config{BaseURL: base, Transport: transport, APIKey: key, MaxRetries: -1})
				if err != nil {
					t.Fatal(err)
				}
				return c.Complete(t.Context(), llm.Request{Model: "m", Prompt: prompt, TopP: 1, MaxTokens: 20, Extra: extra})
			}
			for sample := range 3 {
				if resp, err := ask("k", "p", nil); err != nil || resp.Text != llmtest.Answer("m", "p", sample) {
					t.Errorf("sample %d: %+v, %v", sample, resp, err)
				}
			}
			if resp, err := ask("k", "p", map[string]any{"seed": 9}); err != nil || resp.Text != llmtest.Answer("m", "p", 9) {
				t.Errorf("with a seed: %+v, %v", resp, err)
			}
			if _, err := ask("other", "p", nil); err == nil {
				t.Error("another key is accepted")
			}
			h.FailPrompt("q", llmtest.Quota())
			if _, err := ask("k", "p", nil); err != nil {
				t.Errorf("a fault for one prompt hit another: %v", err)
			}
			if _, err := ask("k", "q", nil); err == nil {
				t.Error("the prompt's fault was not given")
			}
			if h.Calls() != 7 || h.CallsFor("p") != 6 || h.CallsFor("q") != 1 || len(h.Requests()) != 7 {
				t.Errorf("counted %d, %d, %d", h.Calls(), h.CallsFor("p"), h.CallsFor("q"))
			}
		})
	}
}

func TestLimits(t *testing.T) {
	h := &llmtest.Handler{Answer: func(*llmtest.Request) string { return "one two three STOP four" }}
	c, err := llm.New(llm.Config{BaseURL: "http://test/v1", Transport: h.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{2: "one two/length", 5: "one two three /stop"} {
		resp, err := c.Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", TopP: 1, MaxTokens: limit, Stop: []string{"STOP"}})
		if got := resp.Text + "/" + resp.FinishReason; err != nil || got != want {
			t.Errorf("limit %d: %q, %v", limit, got, err)
		}
	}
}

func TestBadRequests(t *testing.T) {
	srv := llmtest.NewServer(t, nil)
	for _, tc := range []struct {
		path, body string
		status     int
	}{
		{"/chat/completions", `{"model":"m","messages":[{"content":"p"}]}`, 200},
		{"/completions", `{"model":"m","prompt":"p"}`, 200},
		{"/chat/completions", `{"model":"m","messages":[]}`, 400},
		{"/chat/completions", `{"messages":[{"content":"p"}]}`, 400},
		{"/completions", `{"model":"m"}`, 400},
		{"/completions", `{`, 400},
		{"/completions", `{"model":"m","prompt":["p"]}`, 400},
		{"/embeddings", `{"model":"m","input":["a","b"]}`, 200},
		{"/embeddings", `{"model":"m","input":[]}`, 400},
		{"/embeddings", `{"input":["a"]}`, 400},
		{"/other", `{}`, 404},
	} {
		resp, err := http.Post(srv.BaseURL+tc.path, "application/json", strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != tc.status {
			t.Errorf("%s %s: %s %s, %v", tc.path, tc.body, resp.Status, b, err)
		}
	}
}

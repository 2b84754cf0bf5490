package llmtest_test

import (
	"context"
	"fmt"
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

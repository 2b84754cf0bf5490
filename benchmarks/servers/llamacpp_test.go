package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/llm"
)

// model is the name that benchmarks/servers/llamacpp_server.py gives its model;
// contextTokens is the size of its context.
const (
	model         = "refract-tiny"
	contextTokens = 16384
)

// llamaCPP returns the base URL of a running llama.cpp server, or skips the test.
func llamaCPP(t *testing.T) string { return started(t, "REFRACT_LLAMACPP", "llamacpp.sh") }

func client(t *testing.T, endpoint llm.Endpoint) *llm.Client {
	return clientOf(t, llamaCPP(t), endpoint)
}

func request(prompt string) llm.Request {
	return llm.Request{Model: model, Prompt: prompt, Temperature: 1, TopP: 0.9, MaxTokens: 64}
}

// goOn keeps the model from ending an answer.
var goOn = map[string]any{"ignore_eos": true}

// ask sends a request that must be answered.
func ask(t *testing.T, c *llm.Client, r llm.Request) llm.Response {
	t.Helper()
	a, err := c.Complete(t.Context(), r)
	require.NoError(t, err)
	if !a.HasText || strings.TrimSpace(a.Text) == "" || a.PromptTokens == 0 || a.CompletionTokens == 0 ||
		a.Model != model || a.FinishReason != "stop" && a.FinishReason != "length" {
		t.Fatalf("%+v", a)
	}
	return a
}

func TestLlamaCPPReady(t *testing.T) {
	c := client(t, llm.Chat)
	require.Nil(t, c.Ready(t.Context(), model)[0])
	faults := c.Ready(t.Context(), "another-model")
	assert.Error(t, faults[0], "a model that is not there is ready")
	t.Logf("another model: %v", faults[0])
}

func TestLlamaCPPAnswers(t *testing.T) {
	for _, endpoint := range []llm.Endpoint{llm.Chat, llm.Completions} {
		t.Run(string(endpoint), func(t *testing.T) {
			c := client(t, endpoint)
			sampled := ask(t, c, request("Paraphrase the sentences: The river is quiet."))
			t.Logf("%+v", sampled)

			// The token limit holds, and the finish reason shows it.
			r := request("Paraphrase the sentences: The river is quiet.")
			r.Temperature, r.TopP, r.MaxTokens, r.Extra = 0, 1, 7, goOn
			cut := ask(t, c, r)
			assert.True(t, cut.FinishReason == "length" && cut.CompletionTokens == 7, "an answer of 7 tokens: %+v", cut)

			// At temperature 0 an answer is repeated; at 1 it is not.
			r.MaxTokens = 64
			assert.Equal(t, ask(t, c, r).Text, ask(t, c, r).Text, "temperature 0")
			texts := map[string]bool{}
			for range 8 {
				texts[ask(t, c, request("Say something.")).Text] = true
			}
			assert.NotEqual(t, 1, len(texts), "temperature 1: eight equal answers")

			// A seed makes a sampled answer repeatable, and a stop string ends it.
			r = request("Say something.")
			r.Extra = map[string]any{"seed": 7}
			a := ask(t, c, r)
			assert.Equal(t, ask(t, c, r).Text, a.Text, "seed 7")
			words := strings.Fields(a.Text)
			for _, w := range words {
				if w == words[0] {
					continue
				}
				r.Stop = []string{w}
				b := ask(t, c, r)
				assert.True(t, !strings.Contains(b.Text, w) && b.FinishReason == "stop", "stop string %q: %+v", w, b)
				break
			}
		})
	}
}

// Fields that go-openai does not have also reach the server.
func TestLlamaCPPExtraFields(t *testing.T) {
	r := request("Is it?")
	r.Extra = map[string]any{"grammar": `root ::= "yes" | "no"`}
	for _, endpoint := range []llm.Endpoint{llm.Chat, llm.Completions} {
		a := ask(t, client(t, endpoint), r)
		assert.False(t, a.Text != "yes" && a.Text != "no", "%s: the grammar was not heeded: %q", endpoint, a.Text)
	}
	r = request("")
	r.Messages = []llm.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Yes?"}}
	ask(t, client(t, llm.Chat), r)
}

func TestLlamaCPPLongPrompt(t *testing.T) {
	for _, endpoint := range []llm.Endpoint{llm.Chat, llm.Completions} {
		_, err := client(t, endpoint).Complete(t.Context(), request(strings.Repeat("a b ", contextTokens)))
		assert.ErrorIs(t, err, llm.ErrContextLength, endpoint)
		t.Logf("%v", err)
	}
}

// slots is the server's report about its work.
type slots []struct {
	Processing bool `json:"is_processing"`
}

func (s slots) busy() (n int) {
	for _, slot := range s {
		if slot.Processing {
			n++
		}
	}
	return n
}

// get reads from the server without the client under test.
func get(t *testing.T, path string) []byte { return rawRequest(t, llamaCPP(t), path, nil) }

// busy returns the number of working slots.
func busy(t *testing.T) int {
	t.Helper()
	var s slots
	require.NoError(t, json.Unmarshal(get(t, "/slots"), &s))
	return s.busy()
}

// predicted returns how many tokens the server has generated, except for answers still in
// progress.
func predicted(t *testing.T) int {
	t.Helper()
	for line := range strings.Lines(string(get(t, "/metrics"))) {
		var n float64
		if _, err := fmt.Sscanf(line, "llamacpp:tokens_predicted_total %g", &n); err == nil {
			return int(n)
		}
	}
	t.Fatal("the server counts no tokens")
	return 0
}

// The server stops working on a cancelled call: it generates fewer tokens than requested.
func TestLlamaCPPCancel(t *testing.T) {
	c := client(t, llm.Chat)
	before := predicted(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := request("Never stop.")
	r.Temperature, r.MaxTokens, r.Extra = 0, contextTokens-100, goOn
	ended := make(chan error, 1)
	go func() {
		_, err := c.Complete(ctx, r)
		ended <- err
	}()
	for busy(t) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("the call ended before it was cancelled: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	// The server looks for disconnected clients only after a second without events, and a
	// request about its slots is an event.
	for busy(t) > 0 {
		time.Sleep(1500 * time.Millisecond)
	}
	if n := predicted(t) - before; n >= r.MaxTokens {
		t.Errorf("the server made all %d tokens of a cancelled call", n)
	} else {
		t.Logf("%d of %d tokens", n, r.MaxTokens)
	}
	ask(t, c, request("Are you free?"))
}

// The program expands with this server, and its second run makes no call.
func TestLlamaCPPExpand(t *testing.T) {
	url := llamaCPP(t)
	dir, program := t.TempDir(), program(t)
	var in bytes.Buffer
	const segments, samples = 6, 2
	for i := range segments {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"references\":[\"The teacher opened letter %d.\"]}\n", i, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600))
	expand := func(args ...string) string {
		out, said, code := run(t, dir, program, append([]string{"expand", "jsonl:in.jsonl", "--model", model, "--base-url", url,
			"--prompts", "ten@de,plain", "-l", "none", "--max-tokens", "40", "--resample", "1", "--concurrency", "16", "--samples", fmt.Sprint(samples)}, args...)...)
		// Under a schema the model may not finish a text within its token limit.
		if code != 0 && (code != 1 || !strings.Contains(said, ".jsonl is written")) {
			t.Fatalf("expand: %d\n%s", code, said)
		}
		return out + said
	}
	for _, endpoint := range []string{"chat", "completions"} {
		t.Logf("%s", expand("--endpoint", endpoint, "-o", "out.jsonl"))
		expand("--endpoint", endpoint, "--offline", "-o", "again.jsonl")
		out, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
		require.NoError(t, err)
		again, err := os.ReadFile(filepath.Join(dir, "again.jsonl"))
		assert.True(t, err == nil && bytes.Equal(out, again), "%s: the second run's output differs (%v)", endpoint, err)
		// The model writes nonsense, so the checks may reject any answer, but none may be lost.
		for line := range bytes.Lines(out) {
			var seg struct {
				Variants, Rejected []json.RawMessage
			}
			require.NoError(t, json.Unmarshal(line, &seg))
			assert.GreaterOrEqual(t, len(seg.Variants)+len(seg.Rejected), 11*samples, endpoint)
		}
	}
}

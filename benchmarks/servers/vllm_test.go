package servers_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/likelihood"
	"github.com/refract-eval/refract/llm"
)

// expectation is what transformers says of a text and a model.
type expectation struct {
	Prefix, Continuation string
	Mean                 float64
	Tokens               int
	Straddles            bool
}

// vllmContext is the --max-model-len of benchmarks/servers/vllm.sh.
const vllmContext = 4096

// vllmModel is what benchmarks/servers/vllm_model.py says of a model.
type vllmModel struct {
	Texts    []expectation
	Specials map[string]int // special tokens with their ids
}

// vLLM is the base URL of a running server of vLLM, or skips.
func vLLM(t *testing.T) string {
	t.Helper()
	url := os.Getenv("REFRACT_VLLM")
	if url == "" {
		t.Skip("REFRACT_VLLM names no server of vLLM; benchmarks/servers/vllm.sh starts one")
	}
	return url
}

// vLLMModel is what is known of the server's model.
func vLLMModel(t *testing.T) (m vllmModel) {
	t.Helper()
	vLLM(t)
	b, err := os.ReadFile(os.Getenv("REFRACT_VLLM_MODEL"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil || len(m.Texts) == 0 || len(m.Specials) == 0 {
		t.Fatalf("REFRACT_VLLM_MODEL: %+v, %v", m, err)
	}
	return m
}

func vLLMClient(t *testing.T, endpoint llm.Endpoint) *llm.Client {
	return clientOf(t, vLLM(t), endpoint)
}

// The server says what it serves.
func TestVLLMReady(t *testing.T) {
	c := vLLMClient(t, llm.Chat)
	if faults := c.Ready(t.Context(), model); faults[0] != nil {
		t.Error(faults[0])
	}
	if faults := c.Ready(t.Context(), "another-model"); !errors.Is(faults[0], llm.ErrNotFound) {
		t.Errorf("a model that is not there: %v", faults[0])
	}
	r := request("Is it?")
	r.Model = "another-model"
	if _, err := c.Complete(t.Context(), r); !errors.Is(err, llm.ErrNotFound) {
		t.Errorf("a model that is not there: %v", err)
	}
}

// A prompt that is too long is refused, and known as such. One that leaves too
// little room for the answer is not: the answer ends where the context does.
func TestVLLMLongPrompt(t *testing.T) {
	for _, endpoint := range []llm.Endpoint{llm.Chat, llm.Completions} {
		c := vLLMClient(t, endpoint)
		for name, r := range map[string]llm.Request{
			"by tokens":     {Prompt: strings.Repeat("a b ", vllmContext/2), MaxTokens: 16},
			"by characters": {Prompt: strings.Repeat("a b ", 32*vllmContext), MaxTokens: 16},
			"the answer":    {Prompt: "Go on.", MaxTokens: vllmContext + 1},
		} {
			r.Model, r.TopP = model, 1
			_, err := c.Complete(t.Context(), r)
			if !errors.Is(err, llm.ErrContextLength) {
				t.Errorf("%s: error %v", name, err)
			}
			t.Logf("%s, %s: %v", endpoint, name, err)
		}
		r := request(strings.Repeat("a ", vllmContext/2-64))
		r.Temperature, r.TopP, r.MaxTokens, r.Extra = 0, 1, 512, goOn
		a := ask(t, c, r)
		if a.PromptTokens < vllmContext-512 || a.FinishReason != "length" || a.PromptTokens+a.CompletionTokens != vllmContext {
			t.Errorf("%d tokens of prompt, %d of answer, %s", a.PromptTokens, a.CompletionTokens, a.FinishReason)
		}
		t.Logf("%s: %d tokens of prompt, %d of the 512 of the answer", endpoint, a.PromptTokens, a.CompletionTokens)
	}
}

// The likelihood of a text is the same by vLLM, read by this client, and by
// transformers, whose tokenizer says itself where tokens stand.
func TestVLLMLikelihood(t *testing.T) {
	c := vLLMClient(t, llm.Completions)
	for _, e := range vLLMModel(t).Texts {
		tokens := tokensOf(t, c, e.Prefix+e.Continuation)
		mean, n, err := likelihood.Score(tokens, len(e.Prefix))
		straddles := slices.ContainsFunc(tokens, func(at llm.TokenLogprob) bool { return at.Offset < len(e.Prefix) && at.End > len(e.Prefix) })
		t.Logf("%q after %q: %.6f of %d tokens, straddling %v; transformers: %.6f", e.Continuation, e.Prefix, mean, n, straddles, e.Mean)
		if err != nil || n != e.Tokens || straddles != e.Straddles || math.Abs(mean-e.Mean) > 1e-3 {
			t.Errorf("want %.6f of %d tokens, straddling %v; %v\n%+v", e.Mean, e.Tokens, e.Straddles, err, tokens)
		}
	}
}

// tokensOf are a prompt's tokens as the server gives them.
func tokensOf(t *testing.T, c *llm.Client, prompt string) []llm.TokenLogprob {
	t.Helper()
	r, err := c.Complete(t.Context(), llm.Request{Model: model, Prompt: prompt, TopP: 1, MaxTokens: 1, PromptLogprobs: true})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := llm.ParseTokens(r.Text)
	if err != nil || len(tokens) != r.PromptTokens {
		t.Fatalf("%q: %d tokens of %d, %v", prompt, len(tokens), r.PromptTokens, err)
	}
	return tokens
}

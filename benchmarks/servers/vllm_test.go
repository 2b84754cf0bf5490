package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/llm"
)

// expectation holds transformers' values for a text and a model.
type expectation struct {
	Prefix, Continuation string
	Mean                 float64
}

// vllmContext is the --max-model-len of benchmarks/servers/vllm.sh.
const vllmContext = 4096

// vllmModel is what benchmarks/servers/vllm_model.py writes about a model.
type vllmModel struct {
	Texts    []expectation
	Specials map[string]int // special tokens with their ids
}

// vLLM returns the base URL of a running vLLM server, or skips the test.
func vLLM(t *testing.T) string { return started(t, "REFRACT_VLLM", "vllm.sh") }

// vLLMModel returns what is known about the server's model.
func vLLMModel(t *testing.T) (m vllmModel) {
	t.Helper()
	vLLM(t)
	b, err := os.ReadFile(os.Getenv("REFRACT_VLLM_MODEL"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	require.True(t, err == nil && len(m.Texts) != 0 && len(m.Specials) != 0, "REFRACT_VLLM_MODEL: %+v, %v", m, err)
	return m
}

func vLLMClient(t *testing.T, endpoint llm.Endpoint) *llm.Client {
	return clientOf(t, vLLM(t), endpoint)
}

// The server says which model it serves.
func TestVLLMReady(t *testing.T) {
	c := vLLMClient(t, llm.Chat)
	assert.NoError(t, c.Ready(t.Context(), model)[0])
	assert.ErrorIs(t, c.Ready(t.Context(), "another-model")[0], llm.ErrNotFound, "a model that is not there")
	r := request("Is it?")
	r.Model = "another-model"
	_, err := c.Complete(t.Context(), r)
	assert.ErrorIs(t, err, llm.ErrNotFound, "a model that is not there")
}

// A prompt that is too long is refused, and the error is recognised. A prompt that leaves
// too little room for the answer is not refused: the answer ends where the context does.
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
			assert.ErrorIs(t, err, llm.ErrContextLength, name)
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

// The likelihood of a text is the same from vLLM, read by the program, as from
// transformers, whose tokenizer gives the token offsets.
func TestVLLMLikelihood(t *testing.T) {
	url, dir := vLLM(t), t.TempDir()
	var rows bytes.Buffer
	texts := vLLMModel(t).Texts
	for i, e := range texts {
		row := map[string]any{"id": strconv.Itoa(i), "source": e.Prefix, "hypotheses": map[string]string{"a": e.Continuation}}
		require.NoError(t, json.NewEncoder(&rows).Encode(row))
	}
	for name, text := range map[string]string{
		"data.jsonl": rows.String(),
		"plain.yaml": "name: plain\nendpoint: completions\nlikelihood: {prompt: '{src}', continuation: '{out}'}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	_, said, code := run(t, dir, program(t), "score", "jsonl:data.jsonl", "-m", "judge-file:plain.yaml,model="+model,
		"--base-url", url, "--reports", "reports.jsonl", "-f", "jsonl")
	require.Equal(t, 0, code, "exit code %d\n%s", code, said)
	got := readJudged(t, filepath.Join(dir, "reports.jsonl"))
	assert.Len(t, got, len(texts))
	for _, j := range got {
		i, err := strconv.Atoi(j.ID)
		if err != nil || j.Score == nil || math.Abs(*j.Score-texts[i].Mean) > 1e-3 {
			t.Errorf("%+v, want %v, %v", j, texts[i].Mean, err)
		}
	}
}

// letters writes invented segments into a folder.
func letters(t *testing.T, dir string, segments int) {
	t.Helper()
	var in bytes.Buffer
	for i := range segments {
		fmt.Fprintf(&in, "{\"id\":\"%d\",\"references\":[\"The teacher opened letter %d.\"]}\n", i, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), in.Bytes(), 0o600))
}

// answers returns the texts of an expansion, accepted or not, by segment.
func answers(t *testing.T, path string) (all [][]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(b) {
		var s struct {
			Variants, Rejected []struct {
				Text   string
				Origin struct{ Raw *string } // if it differs from the text
			}
		}
		require.NoError(t, json.Unmarshal(line, &s))
		var texts []string
		for _, v := range append(s.Variants, s.Rejected...) {
			if v.Origin.Raw != nil {
				v.Text = *v.Origin.Raw
			}
			texts = append(texts, v.Text)
		}
		all = append(all, texts)
	}
	return all
}

// The program waits for a server that is still loading. benchmarks/servers/vllm.sh runs
// this test first.
func TestVLLMWait(t *testing.T) {
	url, dir, program := vLLM(t), t.TempDir(), program(t)
	letters(t, dir, 1)
	args := []string{"expand", "jsonl:in.jsonl", "--model", model, "--base-url", url, "--prompts", "plain", "--form", "text", "--max-tokens", "16", "--resample", "0", "-o", "out.jsonl"}
	resp, err := http.Get(strings.TrimSuffix(url, "/v1") + "/health")
	if err == nil {
		_ = resp.Body.Close()
	}
	if loading := err != nil || resp.StatusCode != http.StatusOK; loading {
		_, said, code := run(t, dir, program, append(args, "--retries", "0")...)
		assert.Equal(t, 1, code, "without waiting: exit code %d\n%s", code, said)
		t.Logf("the server is loading; without waiting: %s", said)
	} else {
		t.Log("the server has loaded before this check")
	}
	_, said, code := run(t, dir, program, append(args, "--wait", "4m")...)
	// The model writes nonsense, and a run in which no answer was accepted fails.
	done := code == 0 || code == 1 && strings.Contains(said, "out.jsonl is written")
	assert.True(t, done && len(answers(t, filepath.Join(dir, "out.jsonl"))) == 1, "exit code %d\n%s", code, said)
}

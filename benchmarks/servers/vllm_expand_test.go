package servers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		if code != 1 {
			t.Errorf("without waiting: exit code %d\n%s", code, said)
		}
		t.Logf("the server is loading; without waiting: %s", said)
	} else {
		t.Log("the server has loaded before this check")
	}
	_, said, code := run(t, dir, program, append(args, "--wait", "4m")...)
	// The model writes nonsense, and a run in which no answer was accepted fails.
	done := code == 0 || code == 1 && strings.Contains(said, "out.jsonl is written")
	if !done || len(answers(t, filepath.Join(dir, "out.jsonl"))) != 1 {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// Package servers's tests check the client and the program against real model servers. They
// are skipped unless the environment names one. benchmarks/servers/llamacpp.sh installs
// llama.cpp's server and runs them with it: calls of all kinds, every judge, the order of
// calls. benchmarks/servers/vllm.sh does the same with vLLM, and adds structured output,
// its prefix cache, special tokens and log-probabilities of prompts.
package servers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/llm"
)

// started returns the base URL of the server that a variable names, or skips the test.
func started(t *testing.T, variable, script string) string {
	t.Helper()
	url := os.Getenv(variable)
	if url == "" {
		t.Skipf("%s names no server; benchmarks/servers/%s starts one", variable, script)
	}
	return url
}

// clientOf returns a client of the server at a base URL.
func clientOf(t *testing.T, base string, endpoint llm.Endpoint) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Config{BaseURL: base, Endpoint: endpoint, Timeout: time.Minute, MaxRetries: -1})
	require.NoError(t, err)
	return c
}

// rawRequest reads a path outside of the API version in a server's base URL, without the client
// under test; with a body it uses POST.
func rawRequest(t *testing.T, base, path string, body []byte) []byte {
	t.Helper()
	address := strings.TrimSuffix(base, "/v1") + path
	var resp *http.Response
	var err error
	if body == nil {
		resp, err = http.Get(address)
	} else {
		resp, err = http.Post(address, "application/json", bytes.NewReader(body))
	}
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.True(t, err == nil && resp.StatusCode == http.StatusOK, "%s: %s, %v", path, resp.Status, err)
	return b
}

// tokenized returns the token ids that a server gives for a body.
func tokenized(t *testing.T, base string, body map[string]any) []int {
	t.Helper()
	b, err := json.Marshal(body)
	require.NoError(t, err)
	var answer struct {
		Tokens []int `json:"tokens"`
	}
	err = json.Unmarshal(rawRequest(t, base, "/tokenize", b), &answer)
	require.True(t, err == nil && len(answer.Tokens) != 0, "%+v, %v", answer, err)
	return answer.Tokens
}

// program builds the program and returns its path.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "refract")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/refract").CombinedOutput()
	require.NoError(t, err, "go build\n%s", out)
	return path
}

// run runs a program in a folder and returns its output and exit code.
func run(t *testing.T, dir, path string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

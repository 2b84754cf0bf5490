package command

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a server sends after its answer, where net/http logs it, may echo the
// key. Nothing of it is shown.
func TestBytesAfterABodyAreNotShown(t *testing.T) {
	const key = "sk-0123456789abcdef"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		body := `{"choices":[{"message":{"content":"An answer."},"finish_reason":"stop"}]}`
		if r.Method == http.MethodGet {
			body = `{"data":[{"id":"m"}]}`
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if assert.NoError(t, err) {
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%sechoed: %s", len(body), body, r.Header.Get("Authorization"))
			t.Cleanup(func() { conn.Close() }) // open, for the client to read on
		}
	}))
	defer s.Close()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	require.NoError(t, os.WriteFile(in, []byte(`{"id":"a","references":["One."]}`+"\n"), 0o644))
	cmd := exec.Command("refract", "expand", "jsonl:"+in, "--checks", "none", "--prompts", "ten", "--model", "m", "-v",
		"--base-url", s.URL+"/v1", "--cache", filepath.Join(dir, "cache"), "-o", filepath.Join(dir, "out.jsonl"))
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+key)
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err)
	for _, hidden := range []string{key, "Unsolicited", "HTTP channel", "echoed"} {
		assert.NotContains(t, string(out), hidden)
	}
}

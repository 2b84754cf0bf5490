package command

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a server sends after its answer, where net/http logs it, may echo the
// key. Nothing of it is shown.
func TestBytesAfterABodyAreNotShown(t *testing.T) {
	const key = "sk-0123456789abcdef"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerTooMuch(conn)
		}
	}()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	require.NoError(t, os.WriteFile(in, []byte(`{"id":"a","references":["One."]}`+"\n"), 0o644))
	cmd := exec.Command("refract", "expand", "jsonl:"+in, "--checks", "none", "--prompts", "ten", "--model", "m", "-v",
		"--base-url", "http://"+l.Addr().String()+"/v1", "--cache", filepath.Join(dir, "cache"), "-o", filepath.Join(dir, "out.jsonl"))
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+key)
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err)
	for _, hidden := range []string{key, "Unsolicited", "HTTP channel", "echoed"} {
		if strings.Contains(string(out), hidden) {
			t.Errorf("%q is shown:\n%s", hidden, out)
		}
	}
}

// answerTooMuch answers requests of a connection, each with bytes after its body.
func answerTooMuch(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		body := `{"choices":[{"message":{"content":"An answer."},"finish_reason":"stop"}]}`
		if r.Method == http.MethodGet {
			body = `{"data":[{"id":"m"}]}`
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%sechoed: %s", len(body), body, r.Header.Get("Authorization"))
	}
}

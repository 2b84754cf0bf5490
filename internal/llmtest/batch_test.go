package llmtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/llmtest"
)

// batchCall sends a request to a server and reads the JSON that it answers.
func batchCall(t *testing.T, s *llmtest.Server, method, path, contentType string, body io.Reader) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, out
}

// batchOf uploads lines, creates a batch of them and gives its state.
func batchOf(t *testing.T, s *llmtest.Server, lines string) map[string]any {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "batch")
	part, err := w.CreateFormFile("file", "in.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(part, lines)
	_ = w.Close()
	_, file := batchCall(t, s, http.MethodPost, "/files", w.FormDataContentType(), &form)
	status, b := batchCall(t, s, http.MethodPost, "/batches", "application/json", strings.NewReader(
		`{"input_file_id":"`+file["id"].(string)+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`))
	if status != http.StatusOK {
		t.Fatalf("%d: %v", status, b)
	}
	_, b = batchCall(t, s, http.MethodGet, "/batches/"+b["id"].(string), "", nil)
	return b
}

// The server is as strict with a batch's file as a real one.
func TestBatchValidation(t *testing.T) {
	row := func(id, url, model string) string {
		return `{"custom_id":"` + id + `","method":"POST","url":"` + url + `","body":{"model":"` + model + `","messages":[{"role":"user","content":"p"}]}}` + "\n"
	}
	const chat = "/v1/chat/completions"
	for name, c := range map[string]struct{ lines, problem string }{
		"good":      {row("a", chat, "m") + row("b", chat, "m"), ""},
		"equal ids": {row("a", chat, "m") + row("a", chat, "m"), "custom_id"},
		"no JSON":   {"one\n", "JSON"},
		"too many":  {row("a", chat, "m") + row("b", chat, "m") + row("c", chat, "m"), "3 rows"},
		"too large": {row("a", chat, strings.Repeat("m", 600)), "bytes"},
	} {
		h := &llmtest.Handler{}
		h.Batch.MaxRows, h.Batch.MaxBytes = 2, 600
		b := batchOf(t, llmtest.NewServer(t, h), c.lines)
		said, _ := json.Marshal(b["errors"])
		want := "failed"
		if c.problem == "" {
			want = "completed"
		}
		if b["status"] != want || !strings.Contains(string(said), c.problem) {
			t.Errorf("%s: %v, %s", name, b["status"], said)
		}
		if (h.Calls() > 0) != (c.problem == "") {
			t.Errorf("%s: %d calls", name, h.Calls())
		}
	}
}

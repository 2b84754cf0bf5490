package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// content downloads a file.
func content(ctx context.Context, c *llm.Client, id string) (string, error) {
	var last []byte
	err := c.FileContent(ctx, id, func(from io.Reader) (err error) {
		last, err = io.ReadAll(from)
		return err
	})
	return string(last), err
}

// A batch from its file to its answers, over a socket, with every step failing once.
func TestBatchAPI(t *testing.T) {
	srv := llmtest.NewServer(t, &llmtest.Handler{Key: "sk-batch-key"})
	c, err := llm.New(llm.Config{BaseURL: srv.BaseURL, APIKey: "sk-batch-key", MaxRetryWait: 1})
	require.NoError(t, err)
	fail := func(step llmtest.BatchStep) { srv.Batch.Fail(step, llmtest.Truncated()) }
	line, err := c.BatchLine("row <1> & \"more\"", request("One <prompt>."))
	require.NoError(t, err)
	body, err := c.Body(request("One <prompt>."))
	if err != nil || !bytes.Contains(line, body) || bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' {
		t.Errorf("line %q of body %q, error %v", line, body, err)
	}
	fail(llmtest.BatchUpload)
	file, err := c.UploadBatchFile(t.Context(), "in.jsonl", line)
	require.NoError(t, err)
	fail(llmtest.BatchContent)
	got, err := content(t.Context(), c, file)
	assert.True(t, err == nil && got == string(line), "uploaded %q, error %v", got, err)
	meta := map[string]any{"name": "v"}
	b, err := c.CreateBatch(t.Context(), file, meta)
	if err != nil || b.InputFileID != file || b.Metadata["name"] != "v" || b.Status == "completed" {
		t.Fatalf("created %+v, error %v", b, err)
	}
	fail(llmtest.BatchGet)
	b, err = c.GetBatch(t.Context(), b.ID)
	require.True(t, err == nil && b.Status == "completed" && b.ErrorFileID == nil, "got %+v, error %v", b, err)
	out, err := content(t.Context(), c, *b.OutputFileID)
	if err != nil || !strings.Contains(out, `"custom_id":"row \u003c1\u003e \u0026 \"more\""`) {
		t.Errorf("output %q, error %v", out, err)
	}
	fail(llmtest.BatchList)
	listed := 0
	for there, err := range c.ListBatches(t.Context()) {
		if listed++; err != nil || there.ID != b.ID {
			t.Errorf("listed %+v, error %v", there, err)
		}
	}
	assert.Equal(t, 1, listed)
}

// A request that may have created a batch is not repeated.
func TestCreateBatchOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault llmtest.Fault
		steps int
		kind  error
	}{
		"reset":       {llmtest.Reset(), 1, llm.ErrUnavailable},
		"503":         {llmtest.Status(503, "busy"), 1, llm.ErrUnavailable},
		"other JSON":  {llmtest.Body(200, "application/json", "{}"), 1, llm.ErrBadAnswer},
		"rate limit":  {llmtest.Status(429, "slow down"), 3, llm.ErrRateLimited},
		"bad request": {llmtest.Status(400, "no such file"), 1, llm.ErrInvalidRequest},
	} {
		h := &llmtest.Handler{}
		h.Batch.Fail(llmtest.BatchCreate, llmtest.Repeat(9, c.fault)...)
		client := local(t, h, func(cfg *llm.Config) { cfg.MaxRetries, cfg.MaxRetryWait = 2, 1 })
		_, err := client.CreateBatch(t.Context(), "file-1", nil)
		wantKind(t, err, c.kind)
		assert.Equal(t, c.steps, h.Batch.Steps(llmtest.BatchCreate), name)
	}
}

func TestBatchAPIErrors(t *testing.T) {
	h := &llmtest.Handler{Key: "sk-the-right-one"}
	c := local(t, h, func(cfg *llm.Config) { cfg.APIKey, cfg.MaxRetries = "sk-a-secret-key", -1 })
	_, err := c.GetBatch(t.Context(), "batch_1")
	wantKind(t, err, llm.ErrAuth)
	h.Key = ""
	for _, id := range []string{"batch_1", "../files", "a/b?c#d"} {
		_, err := c.GetBatch(t.Context(), id)
		wantKind(t, err, llm.ErrNotFound)
	}
	_, err = content(t.Context(), c, "file-9")
	wantKind(t, err, llm.ErrNotFound)
	h.Batch.Fail(llmtest.BatchGet, llmtest.Body(200, "application/json", `{"echo":"sk-a-secret-key \u001b[2J"}`))
	_, err = c.GetBatch(t.Context(), "batch_1")
	wantKind(t, err, llm.ErrBadAnswer)
	assert.False(t, strings.Contains(err.Error(), "sk-a-secret") || strings.ContainsRune(err.Error(), 0x1b), err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.CreateBatch(ctx, "file-1", nil)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = c.BatchLine("x", llm.Request{})
	wantKind(t, err, llm.ErrInvalidRequest)
	full := errors.New("disk full")
	h.Batch.Fail(llmtest.BatchContent, llmtest.Body(200, "text/plain", "data"))
	assert.ErrorIs(t, c.FileContent(t.Context(), "file-1", func(io.Reader) error { return full }), full)
}

// Odd counts, times and errors, which nothing needs, lose neither a file nor a batch.
func TestOddBatches(t *testing.T) {
	h := &llmtest.Handler{}
	c := local(t, h, nil)
	h.Batch.Fail(llmtest.BatchUpload, llmtest.Body(200, "application/json", `{"id":"file-1","created_at":1.5,"status_details":{}}`))
	file, err := c.UploadBatchFile(t.Context(), "in.jsonl", []byte("{}\n"))
	assert.True(t, err == nil && file == "file-1", "file %q, error %v", file, err)
	const odd = `{"id":"b","status":"completed","output_file_id":"file-2","created_at":1.5,"completed_at":"today","request_counts":{"total":"2"},"errors":[],"metadata":null}`
	h.Batch.Fail(llmtest.BatchGet, llmtest.Body(200, "application/json", odd))
	b, err := c.GetBatch(t.Context(), "b")
	assert.True(t, err == nil && b.Status == "completed" && *b.OutputFileID == "file-2", "got %+v, error %v", b, err)
	h.Batch.Fail(llmtest.BatchList, llmtest.Body(200, "application/json", `{"data":[`+odd+`],"has_more":false}`))
	for b, err := range c.ListBatches(t.Context()) {
		assert.True(t, err == nil && b.ID == "b", "listed %+v, error %v", b, err)
	}
}

// Azure refuses a batch of a file that it has not processed yet.
func TestFileIsProcessedFirst(t *testing.T) {
	var asked []string
	c := local(t, &llmtest.Handler{}, func(cfg *llm.Config) {
		cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.Method+" "+r.URL.Path)
			status := "pending"
			if len(asked) == 3 {
				status = "processed"
			}
			w := httptest.NewRecorder()
			fmt.Fprintf(w, `{"id":"file-1","status":%q}`, status)
			return w.Result(), nil
		})
	})
	file, err := c.UploadBatchFile(t.Context(), "in.jsonl", []byte("{}\n"))
	if want := []string{"POST /v1/files", "GET /v1/files/file-1", "GET /v1/files/file-1"}; err != nil || file != "file-1" || !slices.Equal(asked, want) {
		t.Errorf("file %q after %q, error %v", file, asked, err)
	}
}

// Files and batches belong to the first server, whose key and query they carry.
func TestBatchesAreAtTheFirstServer(t *testing.T) {
	var asked []string
	h := &llmtest.Handler{}
	c := several(t, []*llmtest.Handler{h, {}}, func(cfg *llm.Config) {
		cfg.Servers[0] = llm.Server{BaseURL: "http://a.test/v1?tenant=t", APIKey: "key-of-a"}
		cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.String()+" "+r.Header.Get("Authorization"))
			return h.Transport().RoundTrip(r)
		})
	})
	for range 3 {
		_, _ = c.GetBatch(t.Context(), "a/b")
	}
	for _, a := range asked {
		assert.Equal(t, "http://a.test/v1/batches/a%2Fb?tenant=t Bearer key-of-a", a)
	}
}

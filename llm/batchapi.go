package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Limits of the Batch API for one batch.
const (
	MaxBatchRequests = 50_000
	MaxBatchBytes    = 200_000_000
)

// Batch is a batch as its server tells of it. All of it is untrusted text.
type Batch struct {
	ID string `json:"id"`
	// Status is "validating", "in_progress", "finalizing", "cancelling", or
	// one of those that last, for which Ended is true: "completed", "failed"
	// (the validation; no request was answered), "expired", "cancelled".
	Status string `json:"status"`
	// InputFile is the uploaded file.
	InputFile string `json:"input_file_id"`
	// OutputFile and ErrorFile hold the answers and what failed. Each is ""
	// where the server gives none, whatever the Status.
	OutputFile string `json:"output_file_id"`
	ErrorFile  string `json:"error_file_id"`
	// Metadata is what CreateBatch was given.
	Metadata map[string]any `json:"metadata"`
	// Counts are all requests, those that have an answer and those that will
	// have none; all are 0 before the validation.
	Counts struct {
		Total     int `json:"total"`
		Completed int `json:"completed"`
		Failed    int `json:"failed"`
	} `json:"request_counts"`
	// Errors is what the validation found.
	Errors struct {
		Data []BatchProblem `json:"data"`
	} `json:"errors"`
}

// BatchProblem is what a server finds wrong with a batch's file.
type BatchProblem struct {
	Line    int    `json:"line"` // from 1; 0 where the server names none
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Ended reports whether the batch's status is final.
func (b Batch) Ended() bool {
	switch b.Status {
	case "completed", "failed", "expired", "cancelled":
		return true
	}
	return false
}

// BatchServer is the base URL of the server that gets this client's files and
// batches, without secrets. It is the first where there are several.
func (c *Client) BatchServer() string { return c.batchTarget().shown }

func (c *Client) batchTarget() target { return c.pool.servers[0].target }

// BatchURL is the address that a batch and its requests name.
func (c *Client) BatchURL() string {
	if c.endpoint == Completions {
		return string(openai.BatchEndpointCompletions)
	}
	return string(openai.BatchEndpointChatCompletions)
}

// BatchLine is the line of a batch's file that asks as Complete would. It ends
// in a line break.
func (c *Client) BatchLine(customID string, r Request) ([]byte, error) {
	body, err := c.Body(r)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	line.Grow(len(body) + 160)
	encode := json.NewEncoder(&line)
	encode.SetEscapeHTML(false) // as long as the body itself
	err = encode.Encode(struct {
		CustomID string          `json:"custom_id"`
		Method   string          `json:"method"`
		URL      string          `json:"url"`
		Body     json.RawMessage `json:"body"`
	}{customID, http.MethodPost, c.BatchURL(), body})
	if err != nil {
		return nil, fmt.Errorf("write the line of request %q: %w", customID, err)
	}
	return line.Bytes(), nil
}

// How long a transfer of a file may take: the time for a request and for its
// bytes on a slow line.
const (
	transferTime   = 5 * time.Minute
	transferPerSec = 256 << 10
	downloadTime   = 20 * time.Minute
)

// UploadBatchFile uploads JSON lines and returns the file's id.
func (c *Client) UploadBatchFile(ctx context.Context, name string, lines []byte) (string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	err := w.WriteField("purpose", string(openai.PurposeBatch))
	if err == nil {
		_, err = w.CreateFormFile("file", name)
	}
	head := form.Len()
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("write the form of an upload: %w", err)
	}
	frame := form.Bytes()
	body, err := c.do(ctx, httpRequest{
		method: http.MethodPost, path: "/files", contentType: w.FormDataContentType(),
		content: [][]byte{frame[:head], lines, frame[head:]},
		timeout: transferTime + time.Duration(len(lines)/transferPerSec)*time.Second,
	})
	if err != nil {
		return "", fmt.Errorf("upload a batch's file: %w", err)
	}
	var file openai.File
	if err := json.Unmarshal(body, &file); err != nil || file.ID == "" {
		return "", fmt.Errorf("upload a batch's file: %w", c.noBatch(body))
	}
	return file.ID, nil
}

// CreateBatch starts a batch of an uploaded file. The request is not repeated
// where the server may have carried it out: after an error that MayHaveActed
// reports, the list of batches tells whether there is one with this metadata.
func (c *Client) CreateBatch(ctx context.Context, file string, metadata map[string]any) (Batch, error) {
	body, err := json.Marshal(openai.CreateBatchRequest{
		InputFileID: file, Endpoint: openai.BatchEndpoint(c.BatchURL()), CompletionWindow: "24h", Metadata: metadata,
	})
	if err != nil {
		return Batch{}, fmt.Errorf("write the request for a batch: %w", err)
	}
	b, err := c.batch(ctx, httpRequest{
		method: http.MethodPost, path: "/batches", contentType: jsonType, content: [][]byte{body}, once: true,
	})
	if err != nil {
		return Batch{}, fmt.Errorf("create a batch: %w", err)
	}
	return b, nil
}

// MayHaveActed reports whether a server may have carried out a request that
// ended with err: its answer was lost, or is none.
func MayHaveActed(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return err != nil // cancelled on its way, or unknown
	}
	switch e.Kind {
	case ErrUnavailable, ErrTimeout, ErrBadAnswer:
		return true
	}
	return false
}

// GetBatch asks for a batch's state.
func (c *Client) GetBatch(ctx context.Context, id string) (Batch, error) {
	b, err := c.batch(ctx, httpRequest{method: http.MethodGet, path: "/batches/" + url.PathEscape(id)})
	if err != nil {
		return Batch{}, fmt.Errorf("ask for batch %q: %w", id, err)
	}
	return b, nil
}

// CancelBatch asks to end a batch. Answers that it already has are kept.
func (c *Client) CancelBatch(ctx context.Context, id string) (Batch, error) {
	b, err := c.batch(ctx, httpRequest{method: http.MethodPost, path: "/batches/" + url.PathEscape(id) + "/cancel"})
	if err != nil {
		return Batch{}, fmt.Errorf("cancel batch %q: %w", id, err)
	}
	return b, nil
}

func (c *Client) batch(ctx context.Context, r httpRequest) (Batch, error) {
	body, err := c.do(ctx, r)
	if err != nil {
		return Batch{}, err
	}
	var b Batch
	if err := json.Unmarshal(body, &b); err != nil || b.ID == "" || b.Status == "" {
		return Batch{}, c.noBatch(body)
	}
	return b, nil
}

// ListBatches yields the server's batches, in the server's order.
func (c *Client) ListBatches(ctx context.Context) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		query := url.Values{"limit": {strconv.Itoa(batchPage)}}
		for more := true; more; {
			body, err := c.do(ctx, httpRequest{method: http.MethodGet, path: "/batches?" + query.Encode()})
			// The list is a pointer, to tell an answer without one from an empty one.
			var list struct {
				Data    *[]Batch `json:"data"`
				HasMore bool     `json:"has_more"`
			}
			if err == nil && (json.Unmarshal(body, &list) != nil || list.Data == nil) {
				err = c.noBatch(body)
			}
			if err != nil {
				yield(Batch{}, fmt.Errorf("list the batches: %w", err))
				return
			}
			page, last := *list.Data, query.Get("after")
			for _, b := range page {
				if !yield(b, nil) {
					return
				}
				query.Set("after", b.ID)
			}
			more = list.HasMore && query.Get("after") != last
		}
	}
}

// batchPage is the most that a page of the list may have.
const batchPage = 100

// FileContent downloads a file of any size. read reads it, anew for every
// attempt.
func (c *Client) FileContent(ctx context.Context, id string, read func(io.Reader) error) error {
	_, err := c.do(ctx, httpRequest{
		method: http.MethodGet, path: "/files/" + url.PathEscape(id) + "/content", into: read, timeout: downloadTime,
	})
	if err != nil {
		return fmt.Errorf("download file %q: %w", id, err)
	}
	return nil
}

// ReadAnswer reads the status and body of an answer that came in a batch, and
// gives what Complete would have given for the request. The error is an
// *Error; again reports whether it makes sense to ask once more.
func (c *Client) ReadAnswer(r Request, status int, body []byte) (resp Response, again bool, err error) {
	t := c.pool.servers[0].link
	var f *failure
	if status == http.StatusOK {
		resp, f = t.readAnswer(&r, c.endpoint, body)
	} else {
		f = t.refused(r.Model, &http.Response{StatusCode: status, Header: http.Header{}}, body)
	}
	switch {
	case f == nil:
		return resp, false, nil
	case f.blocked:
		return Response{FinishReason: FinishContentFilter}, false, nil
	case r.PromptLogprobs:
		refusedLogprobs(f)
	}
	e := f.Error
	switch e.Kind {
	case ErrRateLimited, ErrUnavailable, ErrTimeout:
		again = true
	case ErrBadAnswer:
		again = !r.PromptLogprobs // a server that gives none will not later
	case ErrInvalidRequest:
		if again = f.renameLimit; again {
			c.renamed.Store(r.Model, true)
		}
	}
	return Response{}, again, &e
}

// Clean makes a text from the server fit for a message: without secrets,
// bounded, nothing in it that moves a terminal's cursor.
func (c *Client) Clean(s string) string { return c.batchTarget().clean(s, maxMessage) }

// noBatch is a 200 that is not what the Batch API answers.
func (c *Client) noBatch(body []byte) *Error {
	return &Error{
		Kind: ErrBadAnswer, Server: c.batchTarget().shown, Status: http.StatusOK, Attempts: 1,
		what:    "gave an answer that is not one of the Batch API",
		Message: "it sent `" + c.batchTarget().clean(string(body[:min(len(body), 64<<10)]), maxSnippet) + "`",
		Hint:    "check that the server has a Batch API",
	}
}

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

// BatchServer returns the base URL, without secrets, of the server that gets this client's files
// and batches: the first one if there are several.
func (c *Client) BatchServer() string { return c.transport.servers[0].shown }

// BatchURL returns the URL path that a batch and its requests name.
func (c *Client) BatchURL() string {
	if c.cfg.Endpoint == Completions {
		return string(openai.BatchEndpointCompletions)
	}
	return string(openai.BatchEndpointChatCompletions)
}

// BatchLine returns the line of a batch's file that makes the same request as Complete. It ends
// in a line break.
func (c *Client) BatchLine(customID string, r Request) ([]byte, error) {
	body, err := c.Body(r)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	line.Grow(len(body) + 160)
	encode := json.NewEncoder(&line)
	encode.SetEscapeHTML(false) // so that the line is not longer than the body
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

// Time limits for the transfer of a file: for the request, and for its bytes on a slow
// line.
const (
	transferTime   = 5 * time.Minute
	transferPerSec = 256 << 10
	downloadTime   = 20 * time.Minute
)

// batchCall makes a call to the server that has the files and batches, and reads the answer into v.
// good then tells whether it is an answer of the Batch API. Fields with wrong types are ignored, so
// that odd counts and times, which nothing needs, lose no batch.
func (c *Client) batchCall(ctx context.Context, out *Call, v any, good func() bool) error {
	out.first = true
	out.read = func(s *server, body []byte) *Error {
		if _ = json.Unmarshal(body, v); good() {
			return nil
		}
		return s.fail(ErrBadAnswer, http.StatusOK, noRetry, "gave an answer that is not one of the Batch API", s.sent(body), "check that the server has a Batch API")
	}
	return c.transport.do(ctx, out)
}

// UploadBatchFile uploads JSON lines and returns the file's id once the server can make a batch of
// it: Azure processes files first, and refuses batches of pending files.
func (c *Client) UploadBatchFile(ctx context.Context, name string, lines []byte) (string, error) {
	if c.cfg.Announce != nil {
		c.cfg.Announce()
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(lines)
	}
	if err = errors.Join(err, form.WriteField("purpose", string(openai.PurposeBatch)), form.Close()); err != nil {
		return "", fmt.Errorf("write the form of a batch's file: %w", err)
	}
	upload := &Call{
		Method: http.MethodPost, Path: "/files", Header: http.Header{"Content-Type": {form.FormDataContentType()}}, Content: body.Bytes(),
		timeout: transferTime + time.Duration(len(lines)/transferPerSec)*time.Second,
	}
	var file openai.File
	uploaded := func() bool { return file.ID != "" }
	err = c.batchCall(ctx, upload, &file, uploaded)
	for look := 0; err == nil && (file.Status == "pending" || file.Status == "running") && look < 35; look++ { // a quarter of an hour
		if err := sleep(ctx, time.Now().Add(min(30*time.Second, meanBackoff<<min(look, 10))), nil); err != nil {
			return "", err
		}
		if err := c.batchCall(ctx, &Call{Method: http.MethodGet, Path: "/files/" + url.PathEscape(file.ID)}, &file, uploaded); err != nil {
			break // if anything is wrong, creating the batch reports it
		}
	}
	if refused, ok := errors.AsType[*Error](err); ok && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed) {
		refused.what, refused.Hint = "has no Batch API", "leave out --batch, and ask it question by question"
	}
	if err != nil {
		return "", fmt.Errorf("upload a batch's file: %w", err)
	}
	return file.ID, nil
}

// CreateBatch creates a batch from an uploaded file. It does not repeat a request that the server
// may have carried out: after ErrUnavailable, ErrTimeout and ErrBadAnswer, look in the list of
// batches for one with this metadata. Everything a server says about a batch is untrusted text.
func (c *Client) CreateBatch(ctx context.Context, file string, metadata map[string]any) (openai.Batch, error) {
	body, err := json.Marshal(openai.CreateBatchRequest{
		InputFileID: file, Endpoint: openai.BatchEndpoint(c.BatchURL()), CompletionWindow: "24h", Metadata: metadata,
	})
	if err != nil {
		return openai.Batch{}, fmt.Errorf("create a batch: %w", err)
	}
	return c.batch(ctx, &Call{Method: http.MethodPost, Path: "/batches", Content: body, once: true}, "create a batch")
}

// GetBatch returns the state of a batch.
func (c *Client) GetBatch(ctx context.Context, id string) (openai.Batch, error) {
	return c.batch(ctx, &Call{Method: http.MethodGet, Path: "/batches/" + url.PathEscape(id)}, fmt.Sprintf("ask for batch %q", id))
}

func (c *Client) batch(ctx context.Context, out *Call, to string) (b openai.Batch, err error) {
	if err := c.batchCall(ctx, out, &b, func() bool { return b.ID != "" && b.Status != "" }); err != nil {
		return openai.Batch{}, fmt.Errorf("%s: %w", to, err)
	}
	return b, nil
}

// ListBatches yields the server's batches, in the server's order.
func (c *Client) ListBatches(ctx context.Context) iter.Seq2[openai.Batch, error] {
	return func(yield func(openai.Batch, error) bool) {
		for after := ""; ; {
			query := url.Values{"limit": {strconv.Itoa(batchPage)}}
			if after != "" {
				query.Set("after", after)
			}
			var page openai.ListBatchResponse
			if err := c.batchCall(ctx, &Call{Method: http.MethodGet, Path: "/batches?" + query.Encode()}, &page, func() bool { return page.Data != nil }); err != nil {
				yield(openai.Batch{}, fmt.Errorf("list the batches: %w", err))
				return
			}
			last := ""
			for _, b := range page.Data {
				if last = b.ID; !yield(b, nil) {
					return
				}
			}
			if !page.HasMore || last == "" || last == after {
				return
			}
			after = last
		}
	}
}

// batchPage is the maximum number of batches on a page of the list.
const batchPage = 100

// FileContent downloads a file of any size. Every attempt calls read with the content from its
// beginning.
func (c *Client) FileContent(ctx context.Context, id string, read func(io.Reader) error) error {
	out := &Call{Method: http.MethodGet, Path: "/files/" + url.PathEscape(id) + "/content", first: true, stream: read, timeout: downloadTime}
	if err := c.transport.do(ctx, out); err != nil {
		return fmt.Errorf("download file %q: %w", id, err)
	}
	return nil
}

// ReadAnswer parses the status and body of an answer in a batch, and returns what Complete would
// have returned for the request. Status 0 means an error without a status, whose code may be one.
// The error is an *Error; again reports whether asking again makes sense.
func (c *Client) ReadAnswer(r Request, status int, body []byte) (resp Response, again bool, err error) {
	s := c.transport.servers[0]
	var e *Error
	switch status {
	case http.StatusOK:
		resp, e = c.readAnswer(s, &r, body)
	case 0:
		e = s.errorInside(r.Model, body)
		e.Status = 0
	default:
		e = s.refused(r.Model, &http.Response{StatusCode: status, Header: http.Header{}}, body)
	}
	switch {
	case e == nil:
		return resp, false, nil
	case e.blocked:
		return Response{FinishReason: FinishContentFilter}, false, nil
	case r.PromptLogprobs:
		e.refusesLogprobs()
	}
	switch e.Kind {
	case ErrRateLimited, ErrUnavailable, ErrTimeout:
		again = true
	case ErrBadAnswer:
		again = e.retries != noRetry && !r.PromptLogprobs // a server without log-probabilities will not give them later
	case ErrInvalidRequest:
		if again = e.newLimit; again {
			c.renamed.Store(r.Model, true)
		}
	}
	return Response{}, again, e
}

// Clean makes a text from the server safe for a message: without secrets and control characters,
// and shortened.
func (c *Client) Clean(s string) string { return c.transport.servers[0].clean(s, maxMessage) }

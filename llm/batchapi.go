package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// BatchServer returns the base URL, without secrets, of the server that gets this client's files
// and batches: the first one if there are several.
func (c *Client) BatchServer() string { return c.transport.servers[0].shown }

// BatchURL returns the URL path that a batch and its requests name.
func (c *Client) BatchURL() string {
	if c.endpoint == Completions {
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

// viaLibrary is the transport as go-openai's HTTP client. An http.Client would follow redirects. The
// context of a request has the rest of its call.
type viaLibrary struct{ *transport }

type callKey struct{}

// Do carries out a request.
func (v viaLibrary) Do(req *http.Request) (*http.Response, error) {
	c, _ := req.Context().Value(callKey{}).(call)
	c.method, c.below, c.header, c.body, c.size = req.Method, req.URL, req.Header, req.GetBody, req.ContentLength
	return v.do(req.Context(), &c)
}

// batchCall returns a context for a call to the server that has the files and batches. A good answer
// is read into v. Fields with wrong types are ignored, so that odd counts and times, which nothing
// needs, lose no batch.
func batchCall(ctx context.Context, c call, v any) context.Context {
	c.first, c.most = true, maxAnswerBytes
	if v != nil {
		c.read = func(_ *server, _ *http.Response, body []byte) *Error {
			_ = json.Unmarshal(body, v)
			return nil
		}
	}
	return context.WithValue(ctx, callKey{}, c)
}

// UploadBatchFile uploads JSON lines and returns the file's id once the server can make a batch of
// it: Azure processes files first, and refuses batches of pending files.
func (c *Client) UploadBatchFile(ctx context.Context, name string, lines []byte) (string, error) {
	if c.announce != nil {
		c.announce()
	}
	timeout := transferTime + time.Duration(len(lines)/transferPerSec)*time.Second
	var file openai.File
	_, err := c.openai.CreateFileBytes(batchCall(ctx, call{timeout: timeout}, &file), openai.FileBytesRequest{Name: name, Bytes: lines, Purpose: openai.PurposeBatch})
	for look := 0; file.ID != "" && (file.Status == "pending" || file.Status == "running") && look < 35; look++ { // a quarter of an hour
		if err := sleep(ctx, time.Now().Add(min(30*time.Second, meanBackoff<<min(look, 10))), nil); err != nil {
			return "", err
		}
		if _, err := c.openai.GetFile(batchCall(ctx, call{}, &file), url.PathEscape(file.ID)); errors.As(err, new(*Error)) {
			break // if anything is wrong, creating the batch reports it
		}
	}
	var refused *Error
	if errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed) {
		refused.what, refused.Hint = "has no Batch API", "leave out --batch, and ask it question by question"
	}
	if err = c.batchError(ctx, err, file.ID != ""); err != nil {
		return "", fmt.Errorf("upload a batch's file: %w", err)
	}
	return file.ID, nil
}

// CreateBatch creates a batch from an uploaded file. It does not repeat a request that the server
// may have carried out: after ErrUnavailable, ErrTimeout and ErrBadAnswer, look in the list of
// batches for one with this metadata. Everything a server says about a batch is untrusted text.
func (c *Client) CreateBatch(ctx context.Context, file string, metadata map[string]any) (openai.Batch, error) {
	var b openai.Batch
	_, err := c.openai.CreateBatch(batchCall(ctx, call{once: true}, &b), openai.CreateBatchRequest{
		InputFileID: file, Endpoint: openai.BatchEndpoint(c.BatchURL()), CompletionWindow: "24h", Metadata: metadata,
	})
	return c.batch(ctx, b, err, "create a batch")
}

// GetBatch returns the state of a batch.
func (c *Client) GetBatch(ctx context.Context, id string) (openai.Batch, error) {
	var b openai.Batch
	_, err := c.openai.RetrieveBatch(batchCall(ctx, call{}, &b), url.PathEscape(id))
	return c.batch(ctx, b, err, fmt.Sprintf("ask for batch %q", id))
}

func (c *Client) batch(ctx context.Context, b openai.Batch, err error, to string) (openai.Batch, error) {
	if err = c.batchError(ctx, err, b.ID != "" && b.Status != ""); err != nil {
		return openai.Batch{}, fmt.Errorf("%s: %w", to, err)
	}
	return b, nil
}

// ListBatches yields the server's batches, in the server's order.
func (c *Client) ListBatches(ctx context.Context) iter.Seq2[openai.Batch, error] {
	return func(yield func(openai.Batch, error) bool) {
		var after *string
		for more := true; more; {
			var page openai.ListBatchResponse
			_, err := c.openai.ListBatch(batchCall(ctx, call{}, &page), after, new(batchPage))
			if err = c.batchError(ctx, err, page.Data != nil); err != nil {
				yield(openai.Batch{}, fmt.Errorf("list the batches: %w", err))
				return
			}
			for _, b := range page.Data {
				if !yield(b, nil) {
					return
				}
			}
			more = page.HasMore && len(page.Data) > 0
			if more {
				last := page.Data[len(page.Data)-1].ID
				more = after == nil || last != *after
				after = &last
			}
		}
	}
}

// batchPage is the maximum number of batches on a page of the list.
const batchPage = 100

// FileContent downloads a file of any size. Every attempt calls read with the content from its
// beginning.
func (c *Client) FileContent(ctx context.Context, id string, read func(io.Reader) error) error {
	content, err := c.openai.GetFileContent(batchCall(ctx, call{stream: read, timeout: downloadTime}, nil), url.PathEscape(id))
	if err != nil {
		return fmt.Errorf("download file %q: %w", id, err)
	}
	return content.Close()
}

// batchError returns err, or an error that says that a 200 is not an answer of the Batch API.
func (c *Client) batchError(ctx context.Context, err error, good bool) error {
	var e *Error
	switch {
	case good && !errors.As(err, &e): // go-openai could not parse a good answer
		return nil
	case errors.As(err, &e) || ctx.Err() != nil || errors.Is(err, context.Canceled):
		return err
	}
	e = &Error{
		Kind: ErrBadAnswer, Server: c.BatchServer(), Status: http.StatusOK, Attempts: 1,
		what: "gave an answer that is not one of the Batch API", Hint: "check that the server has a Batch API",
	}
	if err != nil {
		e.Message = c.Clean(err.Error())
	}
	return e
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
		again = !r.PromptLogprobs // a server without log-probabilities will not give them later
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

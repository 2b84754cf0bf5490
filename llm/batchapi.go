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

// BatchServer is the base URL of the server that gets this client's files and
// batches, without secrets. It is the first where there are several.
func (c *Client) BatchServer() string { return c.transport.servers[0].shown }

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

// batchCall goes to the server that has the files and batches. A good answer is read into
// v, as far as its fields have their types: odd counts and times, which nothing needs, lose no batch.
func batchCall(ctx context.Context, c call, v any) context.Context {
	c.first, c.most = true, maxAnswerBytes
	if v != nil {
		c.read = func(_ *server, _ *http.Response, body []byte) *Error {
			_ = json.Unmarshal(body, v)
			return nil
		}
	}
	return with(ctx, &c)
}

// UploadBatchFile uploads JSON lines and returns the file's id, once the server can make a batch
// of it: Azure processes files first, and refuses batches of those that are pending.
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
			break // what is wrong shows when the batch is created
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

// CreateBatch starts a batch of an uploaded file. The request is not repeated
// where the server may have carried it out: after ErrUnavailable, ErrTimeout and
// ErrBadAnswer the list of batches tells whether there is one with this metadata. What
// a server tells of a batch is untrusted text.
func (c *Client) CreateBatch(ctx context.Context, file string, metadata map[string]any) (openai.Batch, error) {
	var b openai.Batch
	_, err := c.openai.CreateBatch(batchCall(ctx, call{once: true}, &b), openai.CreateBatchRequest{
		InputFileID: file, Endpoint: openai.BatchEndpoint(c.BatchURL()), CompletionWindow: "24h", Metadata: metadata,
	})
	return c.batch(ctx, b, err, "create a batch")
}

// GetBatch asks for a batch's state.
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

// batchPage is the most that a page of the list may have.
const batchPage = 100

// FileContent downloads a file of any size. read reads it, anew for every
// attempt.
func (c *Client) FileContent(ctx context.Context, id string, read func(io.Reader) error) error {
	content, err := c.openai.GetFileContent(batchCall(ctx, call{stream: read, timeout: downloadTime}, nil), url.PathEscape(id))
	if err != nil {
		return fmt.Errorf("download file %q: %w", id, err)
	}
	return content.Close()
}

// batchError is err, or says that a 200 is not what the Batch API answers.
func (c *Client) batchError(ctx context.Context, err error, good bool) error {
	var e *Error
	switch {
	case good && !errors.As(err, &e): // whatever the library made of it
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

// ReadAnswer reads the status and body of an answer that came in a batch, and
// gives what Complete would have given for the request. A status of 0 is for an
// error without one, whose code may be a status. The error is an *Error; again
// reports whether it makes sense to ask once more.
func (c *Client) ReadAnswer(r Request, status int, body []byte) (resp Response, again bool, err error) {
	s := c.transport.servers[0]
	var e *Error
	switch status {
	case http.StatusOK:
		resp, e = s.readAnswer(&r, c.endpoint, body)
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
		again = !r.PromptLogprobs // a server that gives none will not later
	case ErrInvalidRequest:
		if again = e.newLimit; again {
			c.renamed.Store(r.Model, true)
		}
	}
	return Response{}, again, e
}

// Clean makes a text from the server fit for a message: without secrets,
// bounded, nothing in it that moves a terminal's cursor.
func (c *Client) Clean(s string) string { return c.transport.servers[0].clean(s, maxMessage) }

package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Protocol is what a Client needs to know about a protocol other than OpenAI's. Its requests
// are Calls.
type Protocol struct {
	Health Call   // succeeds if a server is healthy
	Key    string // name of the environment variable with the key, for hints
}

// Call is a request, and what the transport needs to know about it.
type Call struct {
	Method, Path string // Path, perhaps with a query, is relative to the base URL
	Model        string // for messages
	Header       http.Header
	Content      []byte // JSON, unless Header says otherwise; nil for none
	Most         int64  // maximum bytes of a good answer; 0 for the usual bound
	// Read gets a good answer: the server, the response and its body. Its error says what the
	// server did wrong, such as "gave 3 scores for 4 pairs". A *Refusal stands for a status,
	// and a *json.SyntaxError for an answer that is not JSON.
	Read func(server string, resp *http.Response, body []byte) error

	logprobs bool          // it asks for log-probabilities of its prompt
	timeout  time.Duration // for one attempt; 0 means the client's
	// first sends the request to the first server, outside the limits, because files and
	// batches belong to one server.
	first bool
	// once forbids repeating a request that the server may have carried out: only refused
	// connections and answers that rule this out are retried.
	once bool
	// read does the same as Read for calls of this package.
	read func(s *server, body []byte) *Error
	// stream reads a good answer of any size instead. Each attempt calls it again.
	stream func(io.Reader) error
}

// Refusal is a status that a server gives inside an answer.
type Refusal struct {
	Status  int // HTTP status
	Message string
}

// Error returns the message.
func (r *Refusal) Error() string { return r.Message }

// ErrTooLarge: the request is too large for the server or its memory (413). Only Calls
// return it.
var ErrTooLarge = errors.New("request too large")

// Call sends a call to one of the servers. It returns the same errors as Complete.
func (c *Client) Call(ctx context.Context, call Call) error {
	return c.transport.do(ctx, &call)
}

// Each sends a call once to each server, outside all limits. Like Ready, it returns an error for
// each server.
func (c *Client) Each(ctx context.Context, call func(i int) Call) []error {
	return c.each(func(i int, s *server) *Error { return s.once(ctx, call(i)) })
}

// each asks all servers concurrently.
func (c *Client) each(ask func(i int, s *server) *Error) []error {
	out := make([]error, len(c.transport.servers))
	var wg sync.WaitGroup
	for i, s := range c.transport.servers {
		wg.Go(func() {
			if e := ask(i, s); e != nil {
				e.Attempts = 1
				out[i] = e
			}
		})
	}
	wg.Wait()
	return out
}

// once sends a call outside all limits.
func (s *server) once(ctx context.Context, call Call) *Error {
	call.timeout = readyTimeout
	return s.send(ctx, &call)
}

// most returns the maximum bytes of a good answer.
func (c *Call) most() int64 { return min(maxAnswerBytes, cmp.Or(c.Most, maxAnswerBytes)) }

// parse reads a good answer, and returns what is wrong with it.
func (c *Call) parse(s *server, resp *http.Response, body []byte) *Error {
	switch {
	case c.stream != nil: // it has read the answer
		return nil
	case c.read != nil:
		return c.read(s, body)
	}
	err := c.Read(s.shown, resp, body)
	e, known := errors.AsType[*Error](err)
	refusal, refused := errors.AsType[*Refusal](err)
	switch {
	case err == nil:
		return nil
	case known:
		return e
	case errors.As(err, new(*json.SyntaxError)):
		return s.notJSON(http.StatusOK, body)
	case refused:
		status := refusal.Status
		if says(refusal.Message, noMemory) {
			status = http.StatusRequestEntityTooLarge
		}
		return s.classify(c.Model, status, &apiError{message: refusal.Message}, nil)
	}
	e = s.fail(ErrBadAnswer, http.StatusOK, noRetry, s.clean(err.Error(), maxMessage), "", "")
	e.elsewhere = true
	return e
}

// noMemory is how an error says that the memory is used up.
const noMemory = "out of memory"

// adapt rewords a failure for the protocol. Another server may accept what one refuses, unless the
// request is too large.
func (p *Protocol) adapt(f *Error, body []byte) {
	switch {
	case f.Status == http.StatusRequestEntityTooLarge, f.Status >= 400 && says(string(body), noMemory):
		f.Kind, f.retries, f.Hint = ErrTooLarge, noRetry, ""
	case f.retries == noRetry && f.Status >= 400:
		f.elsewhere = true
	}
	f.Hint = strings.NewReplacer("OPENAI_API_KEY", p.Key, "base URL", "address", "; it usually ends in /v1", "", ", which usually ends in /v1", "").Replace(f.Hint)
}

package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Protocol is what a Client needs to know of a protocol other than OpenAI's. Its
// requests are Calls.
type Protocol struct {
	Health  Call   // has a good answer where a server is well
	Key     string // the environment variable that holds the key, for hints
	Example string // of an address, for hints
}

// Call is a request of a Protocol.
type Call struct {
	Method, Path string // Path is below the base URL
	Model        string // for messages
	Header       http.Header
	Content      []byte // nil for none
	Most         int64  // bytes that a good answer may have
	// Read takes a good answer: its header, its body and what followed. An error
	// says what the server did wrong, such as "gave 3 scores for 4 pairs"; a
	// *Refusal stands for a status, and a *json.SyntaxError for what is no JSON.
	Read func(server string, resp *http.Response, body []byte) error
}

// Refusal is a status that a server gives inside of an answer.
type Refusal struct {
	Status  int // of HTTP
	Message string
}

// Error is the message.
func (r *Refusal) Error() string { return r.Message }

// ErrTooLarge: the server, or its memory, has no room for the request (413). Only
// Calls give it.
var ErrTooLarge = errors.New("request too large")

// Call carries out a call at one of the servers. Its errors are those of Complete.
func (c *Client) Call(ctx context.Context, call Call) error { return c.call(ctx, call.exchange()) }

// Each carries out a call once at each server, outside all limits. It returns an
// error for each, as Ready does.
func (c *Client) Each(ctx context.Context, call func(i int) Call) []error {
	return c.each(func(i int, s *server) *failure { return s.once(ctx, call(i).exchange()) })
}

// each asks all servers at a time.
func (c *Client) each(ask func(i int, s *server) *failure) []error {
	out := make([]error, len(c.pool.servers))
	var wg sync.WaitGroup
	for i, s := range c.pool.servers {
		wg.Go(func() {
			if f := ask(i, s); f != nil {
				out[i] = &f.Error
			}
		})
	}
	wg.Wait()
	return out
}

// once carries out an exchange outside all limits.
func (s *server) once(ctx context.Context, x *exchange) *failure {
	x.timeout = readyTimeout
	var err error
	if x.below, err = url.Parse(x.path); err != nil {
		return s.fail(ErrInvalidRequest, 0, noRetry, "was not called", err.Error(), "")
	}
	_ = s.link.attempt(ctx, x) // the failure says more
	return x.failure
}

func (c Call) exchange() *exchange {
	x := &exchange{model: c.Model, header: c.Header, mostBytes: c.Most}
	x.method, x.path = c.Method, c.Path
	if c.Content != nil {
		x.contentType, x.content = jsonType, [][]byte{c.Content}
	}
	x.read = func(t *link, body []byte) *failure {
		err := c.Read(t.target.shown, x.response, body)
		var syntax *json.SyntaxError
		var refusal *Refusal
		switch {
		case err == nil:
			return nil
		case errors.As(err, &syntax):
			return t.notJSON(http.StatusOK, body)
		case errors.As(err, &refusal):
			e := serverError{message: refusal.Message}
			if noMemory(refusal.Message) {
				refusal.Status = http.StatusRequestEntityTooLarge
			}
			return t.byStatus(c.Model, refusal.Status, http.Header{}, e, t.said(e, nil))
		}
		return t.fail(ErrBadAnswer, http.StatusOK, elsewhere, t.target.clean(err.Error(), maxMessage), "", "")
	}
	return x
}

// noMemory reports whether an error, at its end, says that the memory is used up.
func noMemory(said string) bool { return strings.Contains(strings.ToLower(said), "out of memory") }

// adapt words a failure for the protocol. What one server refuses another one may
// take, but for what is too large.
func (p *Protocol) adapt(f *failure, body []byte) {
	switch {
	case f.Status == http.StatusRequestEntityTooLarge, f.Status >= 400 && noMemory(string(body)):
		f.Kind, f.retries, f.Hint = ErrTooLarge, noRetry, ""
	case f.retries == noRetry && f.Status >= 400:
		f.retries = elsewhere
	}
	switch f.Kind {
	case ErrAuth:
		f.Hint = "set " + p.Key + " to a key of this server"
	case ErrNotFound:
		f.Hint = fmt.Sprintf("check the model's name and the address, which looks like %s", p.Example)
	}
	if f.Hint == hintBaseURL {
		f.Hint = "the address may be wrong; it looks like " + p.Example
	}
	f.Hint = strings.ReplaceAll(f.Hint, "base URL", "address")
}

package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Client calls one or more model servers. It is safe for concurrent use by any number of
// callers; the number of calls in flight is bounded for each server.
type Client struct {
	cfg       Config
	form      wireForm
	transport *transport
	first     sync.Once // checks the servers before the first call
	// renamed holds the models whose server wants the token limit under its newer name.
	renamed sync.Map
	// unpacked holds the models whose server refuses to send vectors as base64.
	unpacked sync.Map
}

// New returns a client for the configured servers, without calling them. It
// fails where the configuration cannot work; the error shows no secret.
func New(cfg Config) (*Client, error) {
	targets, err := cfg.targets()
	if err != nil {
		return nil, err
	}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, form: forms[cfg.Endpoint], transport: newTransport(targets, &cfg)}, nil
}

// Format writes the client's servers and endpoint, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) {
	if c == nil {
		_, _ = io.WriteString(f, "llm.Client(nil)")
		return
	}
	fmt.Fprintf(f, "llm.Client{%s %s}", c.transport.shown, c.cfg.Endpoint)
}

// Complete asks for one answer. It returns an *Error when the servers give
// none, and an error that wraps ctx.Err() as soon as the context ends.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	c.await(ctx, req.Model)
	resp, err := adapting(&c.renamed, req.Model, func(e *Error) bool { return e.newLimit }, func(renamed bool) (Response, error) {
		return c.complete(ctx, &req, renamed)
	})
	if e, ok := errors.AsType[*Error](err); ok && e.blocked {
		return Response{FinishReason: FinishContentFilter}, nil
	}
	return resp, err
}

// adapting makes a request, and again in the other form if the server refuses the first form.
// others holds the models that accepted the other form.
func adapting[T any](others *sync.Map, model string, refused func(*Error) bool, ask func(other bool) (T, error)) (T, error) {
	_, other := others.Load(model)
	resp, err := ask(other)
	e, ok := errors.AsType[*Error](err)
	if !ok || !refused(e) || other {
		return resp, err
	}
	before := e.Attempts
	if resp, err = ask(true); err == nil {
		others.Store(model, true)
	} else if errors.As(err, &e) {
		e.Attempts += before
	}
	return resp, err
}

// complete makes the request, with the newer name of the token limit if renamed is set.
func (c *Client) complete(ctx context.Context, req *Request, renamed bool) (resp Response, err error) {
	out, err := c.compose(req, renamed)
	if err != nil {
		return resp, err
	}
	out.read = func(s *server, body []byte) (e *Error) {
		resp, e = c.readAnswer(s, req, body)
		return e
	}
	if err = c.transport.do(ctx, out); err != nil {
		return Response{}, err
	}
	return resp, nil
}

// Body returns exactly the body that Complete sends for a request. Like Complete, it fails for a
// request that cannot be sent.
func (c *Client) Body(req Request) ([]byte, error) {
	_, renamed := c.renamed.Load(req.Model)
	made, err := c.compose(&req, renamed)
	if err != nil {
		return nil, err
	}
	return made.Content, nil
}

// readAnswer returns the answer in the body of a 200, or what is wrong with it.
func (c *Client) readAnswer(s *server, r *Request, body []byte) (resp Response, e *Error) {
	if resp, e = c.form.read(s, r, body); e == nil {
		e = s.repeats(r.Model, resp.Text, resp.Model, resp.FinishReason)
	}
	return resp, e
}

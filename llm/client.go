package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Client calls one or more model servers. It is safe for concurrent use by any number of
// callers; the number of calls in flight is bounded for each server.
type Client struct {
	endpoint  Endpoint
	transport *transport
	openai    *openai.Client
	warn      func(error)
	wait      time.Duration
	announce  func()
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
	c := &Client{endpoint: cfg.Endpoint, transport: newTransport(targets, cfg), warn: cfg.Warn, wait: cfg.Wait, announce: cfg.Announce}
	library := openai.DefaultConfig("") // each server has its own key
	library.BaseURL, library.HTTPClient = anyServer, c.transport
	c.openai = openai.NewClientWithConfig(library)
	return c, nil
}

// anyServer stands in URLs for the server that the transport chooses.
const anyServer = "http://server"

// Format writes the client's servers and endpoint, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) {
	if c == nil {
		_, _ = io.WriteString(f, "llm.Client(nil)")
		return
	}
	fmt.Fprintf(f, "llm.Client{%s %s}", c.transport.shown, c.endpoint)
}

// Complete asks for one answer. It returns an *Error when the servers give
// none, and an error that wraps ctx.Err() as soon as the context ends.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	c.await(ctx, req.Model)
	resp, err := adapting(&c.renamed, req.Model, func(e *Error) bool { return e.newLimit }, func(renamed bool) (Response, error) {
		return c.complete(ctx, &req, renamed)
	})
	var e *Error
	if errors.As(err, &e) && e.blocked {
		return Response{FinishReason: FinishContentFilter}, nil
	}
	return resp, err
}

// adapting makes a request, and again in the other form if the server refuses the first form.
// others holds the models that accepted the other form.
func adapting[T any](others *sync.Map, model string, refused func(*Error) bool, ask func(other bool) (T, error)) (T, error) {
	_, other := others.Load(model)
	resp, err := ask(other)
	var e *Error
	if !errors.As(err, &e) || !refused(e) || other {
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

// complete makes the request, with the newer name of the token limit if renamed is set. go-openai's
// types omit zeros, round numbers and cannot hold every answer. So the transport sends our body
// instead of the library's, and the answer is parsed from the raw body.
func (c *Client) complete(ctx context.Context, req *Request, renamed bool) (resp Response, err error) {
	body, err := c.compose(req, renamed)
	if err != nil {
		return resp, err
	}
	out := &call{body: body, model: req.Model, logprobs: req.PromptLogprobs, most: mostBytes(req.MaxTokens)}
	if req.PromptLogprobs {
		out.most = maxAnswerBytes
	}
	read := false
	out.read = func(s *server, _ *http.Response, body []byte) (e *Error) {
		resp, e = s.readAnswer(req, c.endpoint, body)
		read = e == nil
		return e
	}
	if c.endpoint == Completions {
		_, err = c.openai.CreateCompletion(with(ctx, out), openai.CompletionRequest{Prompt: req.Prompt})
	} else {
		_, err = c.openai.CreateChatCompletion(with(ctx, out), openai.ChatCompletionRequest{})
	}
	if read {
		return resp, nil // even if the library could not parse it
	}
	return Response{}, err
}

// Body returns exactly the body that Complete sends for a request. Like Complete, it fails for a
// request that cannot be sent.
func (c *Client) Body(req Request) ([]byte, error) {
	_, renamed := c.renamed.Load(req.Model)
	return c.compose(&req, renamed)
}

// Names of the token limit.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// compose returns the body of a request with all its fields, including zeros. renamed gives the
// token limit its newer name.
func (c *Client) compose(r *Request, renamed bool) ([]byte, error) {
	if err := r.Check(c.endpoint); err != nil {
		return nil, c.transport.notCalled(err)
	}
	body := make(map[string]any, 8+len(r.Extra))
	maps.Copy(body, r.Fields())
	body["model"], body[ParamTemperature], body[ParamTopP], body["stream"] = r.Model, r.Temperature, r.TopP, false
	for _, name := range r.Omit {
		delete(body, name)
	}
	if renamed {
		body[maxCompletionTokens] = r.MaxTokens
	} else {
		body[maxTokens] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		body["stop"] = r.Stop
	}
	if r.PromptLogprobs {
		// Some servers take logprobs 0 as none, and max_tokens 0 as no limit.
		body["echo"], body["logprobs"] = true, 1
	}
	switch {
	case c.endpoint == Completions:
		body["prompt"] = r.Prompt
	case r.Prompt != "":
		body["messages"] = []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: r.Prompt}}
	default:
		messages := make([]openai.ChatCompletionMessage, len(r.Messages))
		for i, m := range r.Messages {
			messages[i] = openai.ChatCompletionMessage{Role: m.Role, Content: m.Content}
		}
		body["messages"] = messages
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, c.transport.notCalled(fmt.Errorf("the extra fields cannot be written as JSON: %w", err))
	}
	return content, nil
}

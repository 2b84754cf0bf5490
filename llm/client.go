package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/refract-eval/refract/internal/english"
)

// Client calls the servers of one model or several. It is safe for concurrent
// use by any number of callers; how many of their calls are in flight is
// bounded for each server (see [Limits]).
type Client struct {
	endpoint Endpoint
	pool     *pool
	retries  int // after the first attempt
	// renamed holds the models whose server wants the token limit under the
	// newer name.
	renamed sync.Map
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
	return &Client{endpoint: cfg.Endpoint, pool: newPool(targets, cfg), retries: cfg.MaxRetries}, nil
}

// Waits returns how long no call will be sent, as limits of rates say, though
// some wait and none is in flight; 0 where that is not so.
func (c *Client) Waits() time.Duration { return c.pool.waits(time.Now()) }

// Format writes the client's servers and endpoint, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) {
	if c == nil {
		_, _ = io.WriteString(f, "llm.Client(nil)")
		return
	}
	fmt.Fprintf(f, "llm.Client{%s %s}", c.pool.shown, c.endpoint)
}

// Complete asks for one answer. It returns an *Error when the servers give
// none, and an error that wraps ctx.Err() as soon as the context ends.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	_, renamed := c.renamed.Load(req.Model)
	resp, x, err := c.complete(ctx, &req, renamed, 0)
	if x != nil && x.failure != nil && x.failure.renameLimit && !renamed {
		if resp, _, err = c.complete(ctx, &req, true, x.attempts); err == nil {
			c.renamed.Store(req.Model, true)
		}
	}
	return resp, err
}

// complete asks under a name of the token limit, after some attempts under the
// other. The exchange is nil where there was none.
func (c *Client) complete(ctx context.Context, req *Request, renamed bool, attempts int) (resp Response, x *exchange, err error) {
	x = &exchange{model: req.Model, start: attempts, attempts: attempts, wantsTokens: req.PromptLogprobs, extra: req.Extra}
	x.method, x.path, x.contentType = http.MethodPost, "/chat/completions", jsonType
	if c.endpoint == Completions {
		x.path = "/completions"
	}
	body, err := c.compose(req, renamed)
	if err != nil {
		return resp, nil, err
	}
	x.content = [][]byte{body}
	if !req.PromptLogprobs {
		x.maxTokens = req.MaxTokens
	}
	if c.pool.countsTokens {
		x.tokens = req.PromptTokens() + req.MaxTokens
	}
	x.read = func(t *link, body []byte) (f *failure) {
		resp, f = t.readAnswer(req, c.endpoint, body)
		return f
	}
	if err = c.call(ctx, x); err != nil {
		resp = Response{}
	}
	if x.failure != nil && x.failure.blocked {
		return Response{FinishReason: FinishContentFilter}, x, nil
	}
	return resp, x, err
}

// Body is the body that Complete sends for a request, byte for byte. It fails
// as Complete does for a request that cannot be sent.
func (c *Client) Body(req Request) ([]byte, error) {
	_, renamed := c.renamed.Load(req.Model)
	return c.compose(&req, renamed)
}

// The names of the token limit.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// compose writes the body of a request: all its fields, zeros too. renamed gives
// the token limit its newer name.
func (c *Client) compose(r *Request, renamed bool) ([]byte, error) {
	if err := r.Check(c.endpoint); err != nil {
		return nil, c.pool.notCalled(err)
	}
	body := make(map[string]any, 8+len(r.Extra))
	maps.Copy(body, r.Extra)
	body["model"], body["temperature"], body["top_p"], body["stream"] = r.Model, r.Temperature, r.TopP, false
	if renamed {
		body[maxCompletionTokens] = r.MaxTokens
	} else {
		body[maxTokens] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		body["stop"] = r.Stop
	}
	if r.PromptLogprobs {
		// Some servers take logprobs of 0 for none, and max_tokens of 0 for any
		// number.
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
		return nil, c.pool.notCalled(fmt.Errorf("the extra fields cannot be written as JSON: %w", err))
	}
	return content, nil
}

// call carries out an exchange. What its steps noted in x says more than their
// error, and holds no secret.
func (c *Client) call(ctx context.Context, x *exchange) error {
	begin, done := beginning(ctx)
	defer done()
	if err := begin.Err(); err != nil {
		return fmt.Errorf("call to server %s not begun: %w", c.pool.shown, err)
	}
	var err error
	if x.below, err = url.Parse(x.path); err != nil {
		return c.pool.notCalled(err)
	}
	err = c.send(begin, ctx, x)
	switch f := x.failure; {
	case err != nil && begin.Err() != nil:
		return fmt.Errorf("call to server %s ended after %s: %w", x.asked(c.pool), english.Count(x.attempts, "attempt"), begin.Err())
	case f != nil:
		e := f.Error
		e.Attempts = x.attempts
		return &e
	case err != nil:
		return c.pool.notCalled(err)
	}
	return nil
}

// exchange is what the steps of one call tell each other. Attempts run one
// after the other, so it needs no lock.
type exchange struct {
	httpRequest
	model       string
	tokens      int  // towards the limit of tokens
	maxTokens   int  // of the answer; 0 where it has none
	wantsTokens bool // it asks for the log-probabilities of its prompt
	extra       map[string]any
	header      http.Header // beside the link's
	mostBytes   int64       // of the answer; 0 for the usual bound
	// read takes the body of a good answer, and says what is wrong with it.
	read func(t *link, body []byte) *failure

	start    int       // attempts before the call
	attempts int       // sent so far
	server   *server   // of the last attempt
	lost     []*server // those that could not be reached since the last retry
	response *http.Response
	failure  *failure
}

// httpRequest is what is sent.
type httpRequest struct {
	method      string
	path        string   // below the base URL, such as /files
	below       *url.URL // the path, parsed by call
	contentType string   // "" without a body
	content     [][]byte // the body, in parts
	beside      bool     // the path is beside the version of the base URL, not below it

	// atFirst is for requests beside the answers, such as an upload: they go
	// to the first server, because files belong to a server, and do not count
	// towards limits.
	atFirst bool
	// into reads the body of a good answer, of any size, anew for each attempt;
	// nil keeps it in memory, within the usual bound.
	into func(io.Reader) error
	// timeout limits one attempt; 0 means the client's.
	timeout time.Duration
	// once forbids to repeat what the server may already have done: only
	// refused connections and answers that say so are retried.
	once bool
}

// do carries out a request at the first server and returns the body of a good
// (2xx) answer, nil where r.into reads it. It returns an *Error, or wraps
// ctx.Err().
func (c *Client) do(ctx context.Context, r httpRequest) (body []byte, err error) {
	r.atFirst = true
	x := &exchange{httpRequest: r}
	x.read = func(_ *link, b []byte) *failure {
		if r.into == nil {
			body = b
		}
		return nil
	}
	if err := c.call(ctx, x); err != nil {
		return nil, err
	}
	return body, nil
}

// asked names the server of the last attempt, or all where there was none.
func (x *exchange) asked(p *pool) string {
	if x.server == nil {
		return p.shown
	}
	return x.server.target.shown
}

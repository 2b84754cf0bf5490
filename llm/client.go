package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Client calls the servers of one model or several. It is safe for concurrent
// use by any number of callers; how many of their calls are in flight is
// bounded for each server (see [Limits]).
type Client struct {
	endpoint Endpoint
	pool     *pool
	retry    *retryTransport
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
	p := newPool(targets, cfg)
	return &Client{endpoint: cfg.Endpoint, pool: p, retry: newRetryTransport(p, cfg.MaxRetries, cfg.MaxRetryWait)}, nil
}

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
	x, err := c.exchange(&req)
	if err != nil {
		return Response{}, err
	}
	err = c.call(ctx, x)
	if x.failure != nil && x.failure.renameLimit && !x.renamed {
		x.renamed = true
		if err = x.compose(); err == nil {
			err = c.call(ctx, x)
		}
		if err == nil {
			c.renamed.Store(req.Model, true)
		}
	}
	if err != nil {
		return Response{}, err
	}
	return x.response, nil
}

// Body is the body that Complete sends for a request, byte for byte. It fails
// as Complete does for a request that cannot be sent.
func (c *Client) Body(req Request) ([]byte, error) {
	x, err := c.exchange(&req)
	if err != nil {
		return nil, err
	}
	return x.body, nil
}

// exchange checks a request and composes its body.
func (c *Client) exchange(req *Request) (*exchange, error) {
	x := &exchange{request: req, model: req.Model, endpoint: c.endpoint, path: chatPath}
	if c.endpoint == Completions {
		x.path = completionsPath
	}
	_, x.renamed = c.renamed.Load(req.Model)
	err := check(*req, c.endpoint)
	if err == nil {
		err = x.compose()
	}
	if err != nil {
		return nil, c.pool.notCalled(err)
	}
	if c.pool.countsTokens {
		x.tokens = req.PromptTokens() + req.MaxTokens
	}
	return x, nil
}

// The paths below a base URL.
var (
	chatPath        = &url.URL{Path: "/chat/completions"}
	completionsPath = &url.URL{Path: "/completions"}
	embeddingsPath  = &url.URL{Path: "/embeddings"}
	modelsPath      = &url.URL{Path: "/models"}
)

// The names of the token limit.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// compose writes the body: all fields of the request, zeros too.
func (x *exchange) compose() (err error) {
	r := x.request
	body := make(map[string]any, 8+len(r.Extra))
	maps.Copy(body, r.Extra)
	body["model"], body["temperature"], body["top_p"], body["stream"] = r.Model, r.Temperature, r.TopP, false
	if x.renamed {
		body[maxCompletionTokens] = r.MaxTokens
	} else {
		body[maxTokens] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		body["stop"] = r.Stop
	}
	if r.Seed != nil {
		body["seed"] = *r.Seed
	}
	if r.PromptLogprobs {
		// Some servers take logprobs of 0 for none, and max_tokens of 0 for any
		// number.
		body["echo"], body["logprobs"] = true, 1
	}
	switch {
	case r.TokenIDs != nil:
		body["prompt"] = r.TokenIDs
	case x.endpoint == Completions:
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
	if x.body, err = json.Marshal(body); err != nil {
		return fmt.Errorf("the extra fields cannot be written as JSON: %w", err)
	}
	return nil
}

// call carries out an exchange. What the transports noted in x says more than
// the error of the client above them, and holds no secret.
func (c *Client) call(ctx context.Context, x *exchange) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("call to server %s not begun: %w", c.pool.shown, err)
	}
	x.start, x.failure = x.attempts, nil
	err := c.retry.send(ctx, x)
	switch f := x.failure; {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("call to server %s ended after %s: %w", x.asked(c.pool), plural(x.attempts, "attempt"), ctx.Err())
	case f != nil && f.blocked:
		x.response = Response{FinishReason: FinishContentFilter}
		return nil
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
	// One of these three is set.
	request *Request
	embed   *EmbedRequest
	raw     *rawRequest

	model    string
	endpoint Endpoint // of request
	renamed  bool     // the token limit has its newer name
	tokens   int      // towards the limit of tokens

	path     *url.URL // below the base URL
	body     []byte   // as it is sent, of requests that are not raw
	start    int      // attempts before the current call of the retry step
	attempts int      // sent so far
	server   *server  // of the last attempt
	failure  *failure
	// What a good attempt gave.
	response Response
	vectors  EmbedResponse
	content  []byte
}

// asked names the server of the last attempt, or all where there was none.
func (x *exchange) asked(p *pool) string {
	if x.server == nil {
		return p.shown
	}
	return x.server.target.shown
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeFrom(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rawRequest is a request beside the answers, such as an upload: it is
// authenticated, retried and cancelled as they are, and its errors are theirs.
// It always goes to the first server, because files belong to a server, and
// does not count towards limits.
type rawRequest struct {
	method      string
	path        string // below the base URL, such as /files
	contentType string // "" without a body
	// body gives the body anew for each attempt, and its size in bytes; nil
	// sends none.
	body func() (io.ReadCloser, int64, error)
	// to gives, for each attempt, an empty place for the body of a good
	// answer, of any size; nil keeps it in memory, within the usual bound.
	to func() (io.Writer, error)
	// timeout limits one attempt; 0 means the client's.
	timeout time.Duration
	// once forbids to repeat what the server may already have done: only
	// refused connections and answers that say so are retried.
	once bool
}

// do carries out a request and returns the body of a good (2xx) answer, nil
// where r.to takes it. It returns an *Error, or wraps ctx.Err().
func (c *Client) do(ctx context.Context, r rawRequest) ([]byte, error) {
	path, err := url.Parse(r.path)
	if err != nil {
		return nil, c.pool.notCalled(err)
	}
	x := &exchange{raw: &r, path: path}
	if err := c.call(ctx, x); err != nil {
		return nil, err
	}
	if r.to != nil {
		return nil, nil
	}
	return x.content, nil
}

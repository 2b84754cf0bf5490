package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// Client calls the servers of one model or several. It is safe for concurrent
// use by any number of callers; how many of their calls are in flight is
// bounded for each server (see [Limits]).
type Client struct {
	endpoint Endpoint
	target   target // of the first server, which gets the raw requests
	pool     *pool
	retry    *retryTransport
	api      *openai.Client
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
	c := &Client{endpoint: cfg.Endpoint, target: targets[0], pool: p, retry: newRetryTransport(p, cfg.MaxRetries, cfg.MaxRetryWait)}

	oc := openai.DefaultConfig("") // each server has a key of its own
	oc.BaseURL = neutralBase
	oc.HTTPClient = &wireTransport{next: c.retry}
	c.api = openai.NewClientWithConfig(oc)
	return c, nil
}

// Format writes the client's servers and endpoint, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) {
	if c == nil {
		_, _ = io.WriteString(f, "llm.Client(nil)")
		return
	}
	fmt.Fprintf(f, "llm.Client{%s %s}", c.pool.shown, c.endpoint)
}

const (
	// neutralModel passes go-openai's lists of models that it refuses by name;
	// the wire step puts the real name in its place.
	neutralModel = "model"
	// neutralBase stands in go-openai's requests until a server is chosen.
	neutralBase = "http://server"
)

// Complete asks for one answer. It returns an *Error when the servers give
// none, and an error that wraps ctx.Err() as soon as the context ends.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	x, err := c.exchange(&req)
	if err != nil {
		return Response{}, err
	}
	err = c.call(ctx, x)
	if x.failure != nil && x.failure.renameLimit && x.limitField == maxTokens {
		x.limitField = maxCompletionTokens
		if err = c.call(ctx, x); err == nil {
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
	x.bodyOnly = true
	if err := c.call(context.Background(), x); err != nil {
		return nil, err
	}
	return x.body, nil
}

// exchange checks a request.
func (c *Client) exchange(req *Request) (*exchange, error) {
	x := &exchange{request: req, model: req.Model, endpoint: c.endpoint, limitField: maxTokens}
	err := check(*req, c.endpoint)
	if err == nil {
		x.extra, err = extraFields(req.Extra)
	}
	if err != nil {
		return nil, c.pool.notCalled(err)
	}
	if c.pool.countsTokens {
		x.tokens = req.PromptTokens() + req.MaxTokens
	}
	if _, ok := c.renamed.Load(req.Model); ok {
		x.limitField = maxCompletionTokens
	}
	return x, nil
}

// call carries out an exchange. What the transports noted in x says more than
// the error of the client above them, and holds no secret.
func (c *Client) call(ctx context.Context, x *exchange) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("call to server %s not begun: %w", c.pool.shown, err)
	}
	x.start, x.failure = x.attempts, nil
	err := c.send(withExchange(ctx, x), x)
	switch f := x.failure; {
	case !errors.Is(err, errAnswered) && ctx.Err() != nil:
		return fmt.Errorf("call to server %s ended after %s: %w", x.asked(c.pool), plural(x.attempts, "attempt"), ctx.Err())
	case f != nil && f.blocked:
		x.response = Response{FinishReason: FinishContentFilter}
		return nil
	case f != nil:
		e := f.Error
		e.Attempts = x.attempts
		return &e
	case !errors.Is(err, errAnswered):
		return c.pool.notCalled(err)
	}
	return nil
}

// send builds the request with go-openai. The answer is in x where the error
// is errAnswered: the attempt step has to read it anyway, to know whether it is
// one.
func (c *Client) send(ctx context.Context, x *exchange) error {
	switch {
	case x.raw != nil:
		return c.sendRaw(ctx, x.raw)
	case x.embed != nil:
		_, err := c.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
			Model: openai.EmbeddingModel(x.embed.Model), Input: x.embed.Texts, Dimensions: x.embed.Dimensions,
			EncodingFormat: openai.EmbeddingEncodingFormatBase64,
		})
		return err
	case x.endpoint == Completions:
		prompt := x.request.Prompt
		if prompt == "" {
			prompt = neutralPrompt
		}
		_, err := c.api.CreateCompletion(ctx, openai.CompletionRequest{
			Model: neutralModel, Prompt: prompt, Stop: x.request.Stop, Seed: x.request.Seed,
		})
		return err
	}
	messages := make([]openai.ChatCompletionMessage, 0, 1+len(x.request.Messages))
	if x.request.Prompt != "" {
		messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: x.request.Prompt})
	}
	for _, m := range x.request.Messages {
		messages = append(messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	_, err := c.api.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model: neutralModel, Messages: messages, Stop: x.request.Stop, Seed: x.request.Seed,
	})
	return err
}

// exchange is what the steps of one call tell each other. Attempts run one
// after the other, so it needs no lock.
type exchange struct {
	// One of these three is set.
	request *Request
	embed   *EmbedRequest
	raw     *rawRequest

	model      string
	endpoint   Endpoint // of request
	limitField string   // name of the token limit on the wire
	extra      string   // further fields of the body
	tokens     int      // towards the limit of tokens
	bodyOnly   bool     // the body is composed and not sent

	body     []byte  // as it is sent
	start    int     // attempts before the current call of the retry step
	attempts int     // sent so far
	server   *server // of the last attempt
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

var _ openai.HTTPDoer = (*wireTransport)(nil)
var _ http.RoundTripper = (*pool)(nil)

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"
)

// Endpoint is the kind of call a server is asked to answer.
type Endpoint string

// The endpoints. Tuned base models usually have no chat template, and answer
// Completions only.
const (
	Chat        Endpoint = "chat"        // POST {base}/chat/completions, the prompt as one user message
	Completions Endpoint = "completions" // POST {base}/completions
)

// Defaults of Config.
const (
	DefaultBaseURL      = "https://api.openai.com/v1"
	DefaultTimeout      = 5 * time.Minute
	DefaultMaxRetries   = 6
	DefaultMaxRetryWait = 10 * time.Minute
	DefaultUserAgent    = "refract"
)

// Config says which server is called, and how. Formatting a Config shows
// neither the key nor what else is secret in the base URL.
type Config struct {
	// BaseURL is the address up to and including the version, such as
	// http://127.0.0.1:8000/v1; "" means DefaultBaseURL. A user and password
	// in it are sent as basic authentication, a query with every request.
	BaseURL string `json:"-"`
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string `json:"-"`
	// Endpoint is Chat where it is "".
	Endpoint Endpoint
	// Timeout limits one attempt, the reading of its answer included; 0 means
	// DefaultTimeout. The context of a call limits all its attempts together.
	Timeout time.Duration
	// MaxRetries bounds the attempts after the first; 0 means
	// DefaultMaxRetries, a negative number none.
	MaxRetries int
	// MaxRetryWait is the longest wait before a retry; 0 means
	// DefaultMaxRetryWait. A call fails when its server asks for more.
	MaxRetryWait time.Duration
	// UserAgent is DefaultUserAgent where it is "".
	UserAgent string
	// Transport carries the attempts; nil means one like
	// http.DefaultTransport, with more idle connections per server.
	Transport http.RoundTripper `json:"-"`
}

// Format writes the Config without its secrets, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) {
	t, err := parseTarget(c.BaseURL, c.APIKey)
	if err != nil {
		_, _ = io.WriteString(f, "llm.Config{invalid}")
		return
	}
	fmt.Fprintf(f, "llm.Config{%s %s}", t.shown, c.Endpoint)
}

// Request is one prompt with its sampling parameters. All of them reach the
// server as they are: a Temperature of 0 is sent as 0.
type Request struct {
	Model  string
	Prompt string // not empty, valid UTF-8
	// Temperature is at least 0; 0 asks for greedy decoding.
	Temperature float64
	// TopP is in [0, 1]; 1 switches nucleus sampling off. Some servers refuse 0.
	TopP float64
	// MaxTokens bounds the answer and is at least 1.
	MaxTokens int
	Stop      []string
	Seed      *int // nil sends none
}

// Response is the server's answer, as untrusted as any text of a model.
type Response struct {
	// Text is the answer where HasText is true. An empty Text with HasText
	// is an empty answer; without HasText the server gave none, because it
	// blocked the prompt or the answer, or sent null.
	Text    string
	HasText bool
	// FinishReason is the server's word for why the answer ends, such as
	// "stop", "length" (the answer is cut) or "content_filter"; "" where it
	// gave none. A prompt refused by a content filter has "content_filter".
	FinishReason string
	// PromptTokens and CompletionTokens are the server's counts, 0 where it
	// gave none. Fewer prompt tokens than were sent mean a cut prompt.
	PromptTokens, CompletionTokens int
	// Model is the model as the server names it, "" where it does not.
	Model string
}

// Client calls one endpoint of one server. It is safe for concurrent use; how
// many calls run at once is the caller's decision.
type Client struct {
	endpoint Endpoint
	target   target
	api      *openai.Client
	// renamed holds the models whose server wants the token limit under the
	// newer name.
	renamed sync.Map
}

// New returns a client for the configured server, without calling it. It
// fails where the configuration cannot work; the error shows no secret.
func New(cfg Config) (*Client, error) {
	t, err := parseTarget(cfg.BaseURL, cfg.APIKey)
	if err != nil {
		return nil, err
	}
	switch cfg.Endpoint {
	case "":
		cfg.Endpoint = Chat
	case Chat, Completions:
	default:
		return nil, fmt.Errorf("unknown endpoint %q; known are %q and %q", cfg.Endpoint, Chat, Completions)
	}
	if cfg.Timeout < 0 || cfg.MaxRetryWait < 0 {
		return nil, errors.New("the timeout and the maximum retry wait must not be negative")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxRetryWait == 0 {
		cfg.MaxRetryWait = DefaultMaxRetryWait
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = DefaultMaxRetries
	}
	cfg.MaxRetries = max(0, cfg.MaxRetries)
	if cfg.UserAgent == "" {
		cfg.UserAgent = DefaultUserAgent
	}
	if cfg.Transport == nil {
		cfg.Transport = defaultTransport()
	}
	attempt := &attemptTransport{base: cfg.Transport, target: t, timeout: cfg.Timeout, limit: maxAnswerBytes}
	retry := newRetryTransport(attempt, cfg.MaxRetries, cfg.MaxRetryWait)
	wire := &wireTransport{next: retry, target: t, userAgent: cfg.UserAgent}

	oc := openai.DefaultConfig(t.key)
	oc.BaseURL = t.base
	oc.HTTPClient = wire
	return &Client{endpoint: cfg.Endpoint, target: t, api: openai.NewClientWithConfig(oc)}, nil
}

// Format writes the client's server and endpoint, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) {
	if c == nil {
		_, _ = io.WriteString(f, "llm.Client(nil)")
		return
	}
	fmt.Fprintf(f, "llm.Client{%s %s}", c.target.shown, c.endpoint)
}

// neutralModel passes go-openai's lists of models that it refuses by name;
// the wire step puts the real name in its place.
const neutralModel = "model"

// Complete asks for one answer. It returns an *Error when the server gives
// none, and an error that wraps ctx.Err() as soon as the context ends.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	if err := check(req); err != nil {
		return Response{}, &Error{Kind: ErrInvalidRequest, Server: c.target.shown, what: "was not called", Message: err.Error()}
	}
	if err := ctx.Err(); err != nil {
		return Response{}, fmt.Errorf("call to server %s not begun: %w", c.target.shown, err)
	}
	x := &exchange{request: req, endpoint: c.endpoint, limitField: "max_tokens"}
	if _, ok := c.renamed.Load(req.Model); ok {
		x.limitField = "max_completion_tokens"
	}
	resp, err := c.call(ctx, x)
	if x.failure != nil && x.failure.renameLimit && x.limitField == "max_tokens" {
		x.limitField = "max_completion_tokens"
		if resp, err = c.call(ctx, x); err == nil {
			c.renamed.Store(req.Model, true)
		}
	}
	return resp, err
}

// call sends the exchange through go-openai. What the transports noted in x
// says more than go-openai's own error, and holds no secret.
func (c *Client) call(ctx context.Context, x *exchange) (Response, error) {
	x.start = x.attempts
	out, err := c.send(withExchange(ctx, x), x.request)
	switch f := x.failure; {
	case err != nil && ctx.Err() != nil:
		return Response{}, fmt.Errorf("call to server %s ended after %s: %w", c.target.shown, plural(x.attempts, "attempt"), ctx.Err())
	case f != nil && f.blocked:
		return Response{FinishReason: contentFilter}, nil
	case f != nil:
		e := f.Error
		e.Attempts = x.attempts
		return Response{}, &e
	case err != nil:
		return Response{}, &Error{
			Kind: ErrBadAnswer, Server: c.target.shown, Attempts: x.attempts,
			what: "gave an answer of an unexpected shape", Message: c.target.clean(err.Error(), maxMessage),
		}
	}
	if x.missing || out.FinishReason == contentFilter {
		out.Text, out.HasText = "", false
	}
	return out, nil
}

func (c *Client) send(ctx context.Context, req Request) (Response, error) {
	if c.endpoint == Completions {
		r, err := c.api.CreateCompletion(ctx, openai.CompletionRequest{
			Model: neutralModel, Prompt: req.Prompt, Stop: req.Stop, Seed: req.Seed,
		})
		if err != nil || len(r.Choices) == 0 {
			return Response{}, err
		}
		out := Response{Model: r.Model, Text: r.Choices[0].Text, HasText: true, FinishReason: r.Choices[0].FinishReason}
		if r.Usage != nil {
			out.PromptTokens, out.CompletionTokens = r.Usage.PromptTokens, r.Usage.CompletionTokens
		}
		return out, nil
	}
	r, err := c.api.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model:    neutralModel,
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: req.Prompt}},
		Stop:     req.Stop,
		Seed:     req.Seed,
	})
	if err != nil || len(r.Choices) == 0 {
		return Response{}, err
	}
	choice := r.Choices[0]
	out := Response{
		Model: r.Model, Text: choice.Message.Content, HasText: true, FinishReason: string(choice.FinishReason),
		PromptTokens: r.Usage.PromptTokens, CompletionTokens: r.Usage.CompletionTokens,
	}
	if parts := choice.Message.MultiContent; len(parts) > 0 {
		out.HasText = false
		for _, p := range parts {
			if p.Type == openai.ChatMessagePartTypeText {
				out.Text += p.Text
				out.HasText = true
			}
		}
	}
	return out, nil
}

// check refuses what cannot be sent faithfully: JSON cannot carry invalid
// UTF-8, and an empty chat message would be left out.
func check(req Request) error {
	switch {
	case req.Model == "":
		return errors.New("the request names no model")
	case req.Prompt == "":
		return errors.New("the prompt is empty")
	case req.MaxTokens < 1:
		return fmt.Errorf("max_tokens is %d; it must be at least 1", req.MaxTokens)
	case math.IsNaN(req.Temperature) || math.IsInf(req.Temperature, 0) || req.Temperature < 0:
		return fmt.Errorf("temperature is %v; it must be a number of at least 0", req.Temperature)
	case math.IsNaN(req.TopP) || req.TopP < 0 || req.TopP > 1:
		return fmt.Errorf("top_p is %v; it must be in [0, 1]", req.TopP)
	case !utf8.ValidString(req.Model):
		return errors.New("the model name is not valid UTF-8")
	case !utf8.ValidString(req.Prompt):
		return errors.New("the prompt is not valid UTF-8, and would reach the server changed")
	}
	for i, s := range req.Stop {
		if s == "" || !utf8.ValidString(s) {
			return fmt.Errorf("stop string %d is empty or not valid UTF-8", i+1)
		}
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

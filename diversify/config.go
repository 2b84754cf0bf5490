package diversify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// The sampling parameters of Div-Ref (section 4.1.3), and defaults of Config.
const (
	PaperTemperature = 1.0
	PaperTopP        = 0.9

	DefaultSamples     = 1
	DefaultMaxTokens   = 1024
	DefaultConcurrency = 8
)

// Completer asks a model for one answer; [llm.Client] is one. It is called
// concurrently, and must return soon after the context ends.
type Completer interface {
	Complete(ctx context.Context, r llm.Request) (llm.Response, error)
}

// Config says how references are expanded.
type Config struct {
	Prompts []Prompt // at least one; names and texts must differ
	Samples int      // answers per prompt; 0 means DefaultSamples

	Model    string
	Endpoint llm.Endpoint // the Client's; "" means llm.Chat
	// Temperature is at least 0, and 0 is greedy decoding, not a default; the
	// paper has PaperTemperature.
	Temperature float64
	// TopP is in [0, 1]; 0 is no default either; the paper has PaperTopP.
	TopP      float64
	MaxTokens int // bounds an answer; 0 means DefaultMaxTokens

	// Concurrency is how many calls run at once, over all segments and all
	// uses of an Expander; 0 means DefaultConcurrency.
	Concurrency int
	Store       cache.Store // never nil
	// Client answers what the Store lacks. If it is nil, that is an error
	// which wraps ErrNotStored.
	Client Completer

	// Observe, if not nil, is told of the progress of Expand: after each
	// segment that is looked up, each answer and each segment that leaves. It
	// is called from one goroutine at a time, which waits for it, and must not
	// use the Expander.
	Observe func(Progress)
}

// Expander expands references. It is safe for concurrent use: all uses share
// its bound on calls, and calls in flight.
type Expander struct {
	cfg    Config
	params cache.Params
	slots  chan struct{} // holds one element for each call

	mu      sync.Mutex
	flights map[cache.Key]*flight // calls

	observing sync.Mutex
}

// New returns an Expander, or why the configuration cannot work.
func New(cfg Config) (*Expander, error) {
	cfg.Prompts = slices.Clone(cfg.Prompts)
	if cfg.Samples == 0 {
		cfg.Samples = DefaultSamples
	}
	if cfg.MaxTokens == 0 {
		cfg.MaxTokens = DefaultMaxTokens
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = DefaultConcurrency
	}
	if cfg.Endpoint == "" {
		cfg.Endpoint = llm.Chat
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("diversify: %w", err)
	}
	params, err := cache.NewParams(map[string]any{
		"temperature": cfg.Temperature, "top_p": cfg.TopP, "max_tokens": cfg.MaxTokens,
	})
	if err != nil {
		return nil, fmt.Errorf("diversify: %w", err)
	}
	return &Expander{
		cfg:     cfg,
		params:  params,
		slots:   make(chan struct{}, cfg.Concurrency),
		flights: make(map[cache.Key]*flight),
	}, nil
}

func (c *Config) check() error {
	switch {
	case len(c.Prompts) == 0:
		return errors.New("no prompt is given")
	case c.Samples < 0:
		return fmt.Errorf("%d samples; there must be at least 1", c.Samples)
	case c.Model == "":
		return errors.New("no model is named")
	case !utf8.ValidString(c.Model):
		return errors.New("the model's name is not valid UTF-8")
	case c.Endpoint != llm.Chat && c.Endpoint != llm.Completions:
		return fmt.Errorf("unknown endpoint %q; known are %q and %q", c.Endpoint, llm.Chat, llm.Completions)
	case math.IsNaN(c.Temperature) || math.IsInf(c.Temperature, 0) || c.Temperature < 0:
		return fmt.Errorf("temperature is %v; it must be a number of at least 0", c.Temperature)
	case math.IsNaN(c.TopP) || c.TopP < 0 || c.TopP > 1:
		return fmt.Errorf("top_p is %v; it must be in [0, 1]", c.TopP)
	case c.MaxTokens < 0:
		return fmt.Errorf("max_tokens is %d; it must be at least 1", c.MaxTokens)
	case c.Concurrency < 0:
		return fmt.Errorf("concurrency is %d; it must be at least 1", c.Concurrency)
	case c.Store == nil:
		return errors.New("no store is given; cache.NewMemory returns one that keeps nothing after the process")
	}
	for i, p := range c.Prompts {
		switch {
		case p.Name == "" || p.Text == "":
			return fmt.Errorf("prompt %d has no name or no text", i+1)
		case !utf8.ValidString(p.Name) || !utf8.ValidString(p.Text):
			return fmt.Errorf("prompt %d (%q) is not valid UTF-8", i+1, p.Name)
		}
		for _, q := range c.Prompts[:i] {
			if p.Name == q.Name {
				return fmt.Errorf("two prompts are named %q", p.Name)
			}
			if p.Text == q.Text {
				// They would share their answers.
				return fmt.Errorf("prompts %q and %q have the same text", q.Name, p.Name)
			}
		}
	}
	return nil
}

// kind is the name of an endpoint in the store.
func kind(e llm.Endpoint) string {
	if e == llm.Completions {
		return cache.KindCompletions
	}
	return cache.KindChat
}

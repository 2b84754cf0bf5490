package diversify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// Sampling parameters of Div-Ref (section 4.1.3), and defaults of Config.
const (
	PaperTemperature = 1.0
	PaperTopP        = 0.9

	DefaultSamples   = 1
	DefaultMaxTokens = 1024
	defaultRounds    = 10
)

// Config configures how references are expanded.
type Config struct {
	Prompts []Prompt // at least one; no two may have the same name or text
	Samples int      // variants per prompt; 0 means DefaultSamples

	Model    string
	Revision string       // of the model's weights, for the store and the variants; may be ""
	Endpoint llm.Endpoint // the Client's; "" means llm.Chat
	// Temperature is at least 0. 0 means greedy decoding, not a default; the paper uses
	// PaperTemperature.
	Temperature float64
	// TopP is in [0, 1]. 0 is not a default either; the paper uses PaperTopP.
	TopP float64
	// Omit names parameters that are not sent (llm.ParamTemperature, llm.ParamTopP).
	// Chosen names those that are sent even if the model refuses them; other parameters
	// that it refuses are left out.
	Omit, Chosen []string
	MaxTokens    int // bounds an answer; 0 means DefaultMaxTokens
	// Extra holds more fields for the request's body, such as "seed". They are part of
	// the key of a stored answer.
	Extra map[string]any
	Form  Form // "" means FormText
	// Probe is asked by FormAuto to find out what the server supports; nil means the Client.
	Probe ask.Completer
	// FormFound, if not nil, is called with the finding: nil if the server gives JSON,
	// otherwise the reason why it does not. A later finding replaces an earlier one.
	FormFound func(why error)

	// Check judges answers. Those that it rejects become Rejected with a verdict. If it
	// is nil, every answer becomes a variant without a verdict.
	Check *check.Checker
	// Equivalence, if not nil, asks a model whether answers keep the meaning of their
	// reference: those that Check accepted or found unlike it. It needs Check.
	Equivalence *Equivalence
	// Plant is the number of segments in which the judge is also shown a changed answer,
	// which it should flag, and another human reference, which it should not. They are
	// spread evenly over Segments segments; if that is 0, the first segments are taken.
	Plant, Segments int
	// Resample is how often a rejected answer is asked for again, with the next sample
	// index. It has no effect if Temperature is 0, because greedy decoding would give
	// the same answer.
	Resample int
	// Complete, if not 0, is the number of accepted variants that every segment should
	// have, including those it came with. After all other requests, the missing variants
	// are asked for, in up to Rounds rounds (0 means 10). For a segment that
	// was expanded before only these are asked for, with the next sample indices. It
	// needs Check and a Temperature above 0.
	Complete, Rounds int
	// Enlarge is how often an answer that MaxTokens cut is asked for again, with twice
	// as many tokens.
	Enlarge int
	// Config says where answers come from. Each tolerated failure becomes a Rejected
	// variant with the verdict Failed.
	ask.Config

	// Observe, if not nil, is called with the progress of Expand: after each answer of a
	// call and after each yielded segment. Calls never overlap. It should return quickly
	// and must not use the Expander.
	Observe func(Progress)
}

// Expander expands references. It is safe for concurrent use; all uses share the bound
// on calls and the calls in flight.
type Expander struct {
	cfg   Config
	forms []form // to look up, in this order
	judge *judge // nil without Config.Equivalence
	asker *ask.Asker

	choosing       sync.Mutex
	chosen, asText bool        // what FormAuto asks for
	unread         atomic.Bool // the server's JSON cannot be read, and is asked for again as text
	choiceErr      error       // why that cannot be found out

	observing sync.Mutex
}

// New returns an Expander, or an error if the configuration cannot work.
func New(cfg Config) (*Expander, error) {
	cfg.Prompts = slices.Clone(cfg.Prompts)
	cfg.Extra = maps.Clone(cfg.Extra)
	cfg.Samples = cmp.Or(cfg.Samples, DefaultSamples)
	cfg.MaxTokens = cmp.Or(cfg.MaxTokens, DefaultMaxTokens)
	cfg.Endpoint, cfg.Form = cmp.Or(cfg.Endpoint, llm.Chat), cmp.Or(cfg.Form, FormText)
	cfg.Rounds = cmp.Or(cfg.Rounds, defaultRounds)
	if err := cfg.check(); err != nil {
		return nil, err
	}
	x := &Expander{cfg: cfg}
	cfg.Choose = x.choose
	cfg.OtherForm = func(_ string, why error) {
		if cfg.FormFound != nil {
			cfg.FormFound(why)
		}
	}
	x.asker = ask.New(cfg.Config)
	var err error
	if x.forms, err = x.newForms(); err == nil && cfg.Equivalence != nil {
		x.judge, err = newJudge(*cfg.Equivalence, cfg.Form)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// room returns the token limit of an answer that was enlarged n times.
func (e *Expander) room(n int) int { return e.cfg.MaxTokens << n }

func (c *Config) check() error {
	switch {
	case len(c.Prompts) == 0:
		return errors.New("no prompt is given")
	case c.Samples < 0:
		return fmt.Errorf("%d samples; there must be at least 1", c.Samples)
	case c.Enlarge < 0 || c.Enlarge > maxEnlarge:
		return fmt.Errorf("a cut answer is to be enlarged %d times; the number must be 0 to %d", c.Enlarge, maxEnlarge)
	case c.Resample < 0 || c.Tolerate < 0:
		return errors.New("the numbers of new samples and of tolerated failures must not be negative")
	case c.Equivalence != nil && c.Check == nil:
		return errors.New("the equivalence of answers is judged after the checks, and no checks are set")
	case c.Complete < 0 || c.Rounds < 0:
		return errors.New("the numbers of variants of a complete segment and of rounds must not be negative")
	case c.Complete > 0 && c.Check == nil:
		return errors.New("completing segments needs checks, and none are set")
	case c.Complete > 0 && c.Temperature == 0:
		return errors.New("completing segments needs a temperature above 0, because all samples are equal at 0")
	case c.Concurrency < 0:
		return fmt.Errorf("concurrency is %d; it must be at least 1", c.Concurrency)
	case c.Store == nil:
		return errors.New("no store is given; cache.NewMemory returns one that keeps nothing after the process")
	}
	sample := llm.Request{Model: c.Model, Prompt: "p", Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens, Extra: c.Extra}
	if err := sample.Check(c.Endpoint); err != nil {
		return err
	}
	if err := c.checkForm(); err != nil {
		return err
	}
	return checkPrompts(c.Prompts)
}

func checkPrompts(prompts []Prompt) error {
	for i, p := range prompts {
		switch {
		case p.Name == "" || p.Text == "":
			return fmt.Errorf("prompt %d has no name or no text", i+1)
		case !utf8.ValidString(p.Name) || !utf8.ValidString(p.Text):
			return fmt.Errorf("prompt %d (%q) is not valid UTF-8", i+1, p.Name)
		case p.NeedsLanguage():
			return fmt.Errorf("prompt %q needs the name of the language that is asked for", p.Name)
		}
		if err := unlike(p, prompts[:i]); err != nil {
			return err
		}
	}
	return nil
}

// maxEnlarge bounds the token limit of an answer to 64 times MaxTokens.
const maxEnlarge = 6

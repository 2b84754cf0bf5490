package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge"
)

// Teacher is the model that is asked, in one step after the other.
type Teacher struct {
	Model    string
	Revision string // of its weights; may be ""
	Asker    *ask.Asker
	// Endpoint and Client are those of a model that is not asked as the Asker's
	// client is; zero values stand for chat and for that client.
	Endpoint llm.Endpoint
	Client   ask.Completer
	// LookAhead makes no call: what the store lacks stays unanswered, and the
	// steps count it.
	LookAhead bool
	// Observe, if it is not nil, is told of every answer. It is called from any
	// number of goroutines.
	Observe func(ask.Result)

	// Steps are those so far, in order.
	Steps []*Step
}

// Step counts what became of the questions of one kind.
type Step struct {
	Name      string `json:"step"`
	Model     string `json:"model"`
	Dialogues int    `json:"dialogues"` // conversations, of one turn or more
	Answers   int    `json:"answers"`   // to turns
	// Tokens of all answers, stored ones too, as the server counted them.
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`

	// Ahead is what a Teacher that looks ahead found, and Unknown how many
	// conversations more depend on answers that are not known yet.
	Ahead   ask.Outlook `json:"-"`
	Unknown int         `json:"-"`
	standIn ask.Outlook // of one conversation
}

// Foreseen is Ahead with the unknown conversations, as if each
// were like a stand-in.
func (s *Step) Foreseen() ask.Outlook {
	o := s.Ahead
	o.PromptTokens += s.Unknown * s.standIn.PromptTokens
	o.MostCompletionTokens += s.Unknown * s.standIn.MostCompletionTokens
	return o
}

// Sampling says how a step is answered.
type Sampling struct {
	Temperature float64 `yaml:"temperature" json:"temperature"`
	TopP        float64 `yaml:"top_p" json:"top_p"`
	MaxTokens   int     `yaml:"max_tokens" json:"max_tokens"`
}

// Dialogue is a conversation with the teacher: prompts, each of which follows the
// answer to the one before.
type Dialogue struct {
	At      int    // its index in the step
	About   string // for errors
	Prompts []string
	// Wire is the only request, in place of Prompts: it is sent as it is.
	Wire   *llm.Request
	Sample int // tells equal conversations apart
	// MaxTokens bounds each answer further than the sampling does; 0 does not.
	MaxTokens int

	Answers []string // as far as there are any
	// Rule is RuleNoAnswer or RuleCut where an answer is missing or cut, and
	// Detail says why.
	Rule, Detail string
	whole        bool // all turns are answered
}

// Last is the answer to the last prompt.
func (d *Dialogue) Last() string { return d.Answers[len(d.Answers)-1] }

// Unknown adds to a step conversations that are like d, a stand-in.
func (t *Teacher) Unknown(name string, n int, s Sampling, d *Dialogue) {
	step := t.Steps[slices.IndexFunc(t.Steps, func(s *Step) bool { return s.Name == name })]
	step.Unknown = n
	for i, p := range d.Prompts {
		step.standIn.PromptTokens += llm.Request{Prompt: p}.PromptTokens()
		for range i {
			step.standIn.PromptTokens += s.MaxTokens
		}
		step.standIn.MostCompletionTokens += s.MaxTokens
	}
}

// All takes the dialogues of a step to their ends, and calls done with each that
// ended, in order. The answers that were stored before an error stay stored.
func (t *Teacher) All(ctx context.Context, step string, s Sampling, dialogues iter.Seq[*Dialogue], done func(*Dialogue) error) error {
	n := &Step{Name: step, Model: t.Model}
	t.Steps = append(t.Steps, n)
	jobs := func(yield func(ask.Job, error) bool) {
		for d := range dialogues {
			n.Dialogues++
			if !yield(&conversation{t: t, s: s, step: n, Dialogue: d}, nil) {
				return
			}
		}
	}
	end := func(j ask.Job) error {
		c := j.(*conversation)
		n.Answers += c.answers
		n.PromptTokens += c.prompt
		n.CompletionTokens += c.completion
		return done(c.Dialogue)
	}
	if !t.LookAhead {
		return t.Asker.Stream(ctx, func(context.Context) iter.Seq2[ask.Job, error] { return jobs }, end)
	}
	p := t.Asker.Plan(nil)
	var all []ask.Job
	err := p.Add(ctx, func(yield func(ask.Job, error) bool) {
		for j := range jobs {
			all = append(all, j)
			if !yield(j, nil) {
				return
			}
		}
	})
	n.Ahead = p.Outlook()
	for _, j := range all {
		if c := j.(*conversation); err == nil && (c.whole || c.Rule != "") {
			err = end(j)
		}
	}
	return err
}

// conversation is the [ask.Job] of a dialogue.
type conversation struct {
	*Dialogue
	t                           *Teacher
	s                           Sampling
	step                        *Step
	answers, prompt, completion int
}

// Next implements ask.Job.
func (c *conversation) Next(results []ask.Result) ([]ask.Question, error) {
	if len(results) > 0 {
		if c.take(&results[0]); c.Rule != "" {
			return nil, nil
		}
	}
	turns := len(c.Prompts)
	if c.Wire != nil {
		turns = 1
	}
	if c.whole = len(c.Answers) == turns; c.whole {
		return nil, nil
	}
	wire := c.request()
	stored, err := judge.StoredRequest(wire, cmp.Or(c.t.Endpoint, llm.Chat), c.t.Revision, c.Sample)
	if err != nil {
		return nil, c.At(0, err)
	}
	return []ask.Question{{
		Request: stored, Key: stored.Key(), Wire: wire,
		Client: c.t.Client, Expected: wire.MaxTokens / 2, Follow: turns - len(c.Answers) - 1,
	}}, nil
}

// request is what the next turn sends.
func (c *conversation) request() llm.Request {
	if c.Wire != nil {
		return *c.Wire
	}
	wire := llm.Request{Model: c.t.Model, Temperature: c.s.Temperature, TopP: c.s.TopP, MaxTokens: c.s.MaxTokens}
	if c.MaxTokens > 0 {
		wire.MaxTokens = min(wire.MaxTokens, c.MaxTokens)
	}
	for i, a := range c.Answers {
		wire.Messages = append(wire.Messages, llm.Message{Role: "user", Content: c.Prompts[i]}, llm.Message{Role: "assistant", Content: a})
	}
	if last := c.Prompts[len(c.Answers)]; wire.Messages == nil {
		wire.Prompt = last
	} else {
		wire.Messages = append(wire.Messages, llm.Message{Role: "user", Content: last})
	}
	return wire
}

// take takes in an answer, or why there is none.
func (c *conversation) take(r *ask.Result) {
	c.answers++
	a := &r.Answer
	switch {
	case r.Err != nil:
		c.Rule, c.Detail = RuleNoAnswer, Reason(r.Err)
		return
	case !a.HasText || a.FinishReason == llm.FinishContentFilter:
		c.Rule, c.Detail = RuleNoAnswer, "the server withheld the answer"
	case a.FinishReason == llm.FinishNotUnicode:
		c.Rule, c.Detail = RuleNoAnswer, "the server sent invalid UTF-8 or half of a surrogate pair"
	case strings.TrimSpace(a.Text) == "":
		c.Rule, c.Detail = RuleNoAnswer, "the answer is empty"
	case a.FinishReason == llm.FinishLength:
		c.Rule, c.Detail = RuleCut, fmt.Sprintf("the limit of tokens cut the answer to turn %d", len(c.Answers)+1)
	}
	c.prompt += a.PromptTokens
	c.completion += a.CompletionTokens
	c.Answers = append(c.Answers, a.Text)
}

// Reason is why a request failed, without the server's address, which is not for
// those who get the items.
func Reason(err error) string {
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		return "the server " + e.Cause()
	}
	return err.Error()
}

// Answered implements ask.Job.
func (c *conversation) Answered(_ int, r ask.Result) {
	if c.t.Observe != nil {
		c.t.Observe(r)
	}
}

// At implements ask.Job.
func (c *conversation) At(_ int, err error) error {
	return fmt.Errorf("%s, %s: %w", c.step.Name, cmp.Or(c.About, "the prompt"), err)
}

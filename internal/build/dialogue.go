package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge"
)

// Model is a model that is asked.
type Model struct {
	Name     string
	Revision string        // of its weights; may be ""
	Endpoint llm.Endpoint  // "" for chat
	Client   ask.Completer // nil for the Asker's
}

// Step counts what became of the questions of one kind.
type Step struct {
	Name      string `json:"step"`
	Model     string `json:"model"`
	Dialogues int    `json:"dialogues"` // conversations, of one turn or more
	Answers   int    `json:"answers"`   // to turns
	// Tokens of all answers, including stored ones, as the server counted them.
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`

	// Ahead is what a dry run found. Unknown is how many more conversations depend
	// on answers that are not known yet; Ahead has their tokens.
	Ahead   ask.Outlook `json:"-"`
	Unknown int         `json:"-"`
}

// Dialogue is a conversation with a model: prompts, each of which follows the answer
// to the one before.
type Dialogue struct {
	index   int    // in the step
	about   string // for errors
	prompts []string
	// wire is sent as it is instead of prompts.
	wire      *llm.Request
	sample    int // tells equal conversations apart
	maxTokens int // lowers the step's limit of each answer; 0 does not

	Answers []string // as many as there are
	// Rule is RuleNoAnswer or RuleCut if an answer is missing or cut, and Detail
	// says why.
	Rule, Detail string
	finished     bool // all turns are answered
}

func (d *Dialogue) last() string { return d.Answers[len(d.Answers)-1] }

// expect counts in a step n conversations like d that are not known yet.
func (st *Step) expect(n int, s Sampling, prompts ...string) {
	st.Unknown = n
	for i, p := range prompts {
		st.Ahead.PromptTokens += n * (llm.Request{Prompt: p}.PromptTokens() + i*s.MaxTokens)
		st.Ahead.MostCompletionTokens += n * s.MaxTokens
	}
}

// ask takes the dialogues of a step to their ends, and calls done with each that
// ended, in order. Answers that were stored before an error stay stored. A dry run
// makes no call: dialogues whose answers are not stored do not end.
func (s *Set) ask(ctx context.Context, model Model, step string, dialogues []*Dialogue, done func(*Dialogue) error) (*Step, error) {
	st := &Step{Name: step, Model: model.Name, Dialogues: len(dialogues)}
	s.Steps = append(s.Steps, st)
	var all []*conversation
	for _, d := range dialogues {
		all = append(all, &conversation{Dialogue: d, set: s, model: model, step: st, sampling: s.Recipe.Steps[step].Sampling})
	}
	jobs := func(yield func(ask.Job, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
	end := func(j ask.Job) error {
		c := j.(*conversation)
		st.Answers += c.asked
		st.PromptTokens += c.promptTokens
		st.CompletionTokens += c.completionTokens
		return done(c.Dialogue)
	}
	if !s.DryRun {
		return st, s.Asker.Stream(ctx, func(context.Context) iter.Seq2[ask.Job, error] { return jobs }, end)
	}
	plan := s.Asker.Plan(nil)
	err := plan.Add(ctx, jobs)
	st.Ahead = plan.Outlook()
	for _, c := range all {
		if err == nil && (c.finished || c.Rule != "") {
			err = end(c)
		}
	}
	return st, err
}

// conversation is the [ask.Job] of a dialogue.
type conversation struct {
	*Dialogue
	set      *Set
	model    Model
	step     *Step
	sampling Sampling

	asked, promptTokens, completionTokens int
}

// Next implements ask.Job.
func (c *conversation) Next(results []ask.Result) ([]ask.Question, error) {
	if len(results) > 0 {
		if c.take(&results[0]); c.Rule != "" {
			return nil, nil
		}
	}
	turns := max(len(c.prompts), 1)
	if c.finished = len(c.Answers) == turns; c.finished {
		return nil, nil
	}
	wire := c.request()
	stored, err := judge.StoredRequest(wire, cmp.Or(c.model.Endpoint, llm.Chat), c.model.Revision, c.sample)
	if err != nil {
		return nil, c.At(0, err)
	}
	return []ask.Question{{
		Request: stored, Key: stored.Key(), Wire: wire,
		Client: c.model.Client, Expected: wire.MaxTokens / 2, Follow: turns - len(c.Answers) - 1,
	}}, nil
}

// request is what the next turn sends.
func (c *conversation) request() llm.Request {
	if c.wire != nil {
		return *c.wire
	}
	s := c.sampling
	wire := llm.Request{Model: c.model.Name, Temperature: s.Temperature, TopP: s.TopP, MaxTokens: min(s.MaxTokens, cmp.Or(c.maxTokens, s.MaxTokens))}
	for i, a := range c.Answers {
		wire.Messages = append(wire.Messages, llm.Message{Role: "user", Content: c.prompts[i]}, llm.Message{Role: "assistant", Content: a})
	}
	if last := c.prompts[len(c.Answers)]; wire.Messages == nil {
		wire.Prompt = last
	} else {
		wire.Messages = append(wire.Messages, llm.Message{Role: "user", Content: last})
	}
	return wire
}

// take records an answer, or why there is none.
func (c *conversation) take(r *ask.Result) {
	c.asked++
	a := &r.Answer
	switch {
	case r.Err != nil:
		c.Rule, c.Detail = RuleNoAnswer, Reason(r.Err)
	case !a.HasText || a.FinishReason == llm.FinishContentFilter:
		c.Rule, c.Detail = RuleNoAnswer, "the server withheld the answer"
	case a.FinishReason == llm.FinishNotUnicode:
		c.Rule, c.Detail = RuleNoAnswer, "the server sent invalid UTF-8 or half of a surrogate pair"
	case strings.TrimSpace(a.Text) == "":
		c.Rule, c.Detail = RuleNoAnswer, "the answer is empty"
	case a.FinishReason == llm.FinishLength:
		c.Rule, c.Detail = RuleCut, fmt.Sprintf("the limit of tokens cut the answer to turn %d", len(c.Answers)+1)
	}
	if r.Err == nil {
		c.Answers = append(c.Answers, a.Text)
		c.promptTokens += a.PromptTokens
		c.completionTokens += a.CompletionTokens
	}
}

// Reason is why a request failed, without the server's address, which must not
// reach those who get the items.
func Reason(err error) string {
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		return "the server " + e.Cause()
	}
	return err.Error()
}

// Answered implements ask.Job.
func (c *conversation) Answered(_ int, r ask.Result) {
	if c.set.Observe != nil {
		c.set.Observe(r)
	}
}

// At implements ask.Job.
func (c *conversation) At(_ int, err error) error {
	return fmt.Errorf("%s, %s: %w", c.step.Name, cmp.Or(c.about, "the prompt"), err)
}

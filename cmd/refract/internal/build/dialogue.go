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
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// Model is a model to ask.
type Model struct {
	Name     string
	Revision string        // of its weights; may be ""
	Endpoint llm.Endpoint  // "" for chat
	Client   ask.Completer // nil for the Asker's
}

// Step counts the conversations of one kind.
type Step struct {
	Name      string `json:"step"`
	Model     string `json:"model"`
	Dialogues int    `json:"dialogues"` // conversations, of one turn or more
	Answers   int    `json:"answers"`   // to turns
	// Tokens of all answers, including stored ones, as the server counted them.
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`

	// Ahead is what a dry run found. It excludes the Unknown conversations, which depend on
	// answers that are not known yet.
	Ahead   ask.Outlook `json:"-"`
	Unknown int         `json:"-"`
}

// Dialogue is a conversation with a model about an item: a sequence of prompts, each sent after
// the answer to the one before. It implements [ask.Job].
type Dialogue struct {
	item    *Item
	correct string // the text that the item is made from, if there is one
	prompts []string
	// wire, if not nil, is sent unchanged instead of prompts.
	wire      *llm.Request
	sample    int // distinguishes equal conversations
	maxTokens int // lowers the step's token limit for each answer, unless 0

	Answers []string // received so far
	// Rule is RuleNoAnswer or RuleCut if an answer is missing or cut, and Detail
	// says why.
	Rule, Detail string

	set      *Set
	model    Model
	step     *Step
	finished bool // all turns are answered

	asked, promptTokens, completionTokens int
}

func (d *Dialogue) last() string { return d.Answers[len(d.Answers)-1] }

// ask takes the dialogues of a step to their ends, and calls done with each that
// ended, in order. Answers that were stored before an error stay stored. A dry run
// makes no call: dialogues whose answers are not stored do not end.
func (s *Set) ask(ctx context.Context, model Model, step string, dialogues []*Dialogue, done func(*Dialogue)) (*Step, error) {
	st := &Step{Name: step, Model: model.Name, Dialogues: len(dialogues)}
	s.Steps = append(s.Steps, st)
	jobs := func(yield func(ask.Job, error) bool) {
		for _, d := range dialogues {
			d.set, d.model, d.step = s, model, st
			if !yield(d, nil) {
				return
			}
		}
	}
	end := func(j ask.Job) error {
		d := j.(*Dialogue)
		st.Answers += d.asked
		st.PromptTokens += d.promptTokens
		st.CompletionTokens += d.completionTokens
		done(d)
		return nil
	}
	if !s.DryRun {
		return st, s.Asker.Stream(ctx, func(context.Context) iter.Seq2[ask.Job, error] { return jobs }, end)
	}
	plan := s.Asker.Plan(nil)
	err := plan.Add(ctx, jobs)
	st.Ahead = plan.Outlook()
	for _, d := range dialogues {
		if err == nil && (d.finished || d.Rule != "") {
			err = end(d)
		}
	}
	return st, err
}

// lesson says how the teacher's answers become examples for a metric.
type lesson struct {
	metric *judge.Resolved
	read   func(*Dialogue)                                   // takes the item's texts and errors from the answers
	write  func(task string, errors []analysis.Error) string // the completion
}

// teach asks the teacher about the items of dialogues, and makes each an example that no rule
// leaves out.
func (s *Set) teach(ctx context.Context, step string, dialogues []*Dialogue, l lesson) error {
	_, err := s.ask(ctx, s.Teacher, step, dialogues, func(d *Dialogue) { s.add(d, l) })
	return err
}

func (s *Set) add(d *Dialogue, l lesson) {
	it := d.item
	if it.take(d) {
		l.read(d)
		s.filter(it, d.correct)
	}
	if it.Rule == "" {
		it.complete(l.metric, l.write(it.Task, it.Errors))
	}
	s.Items = append(s.Items, it)
}

// Next implements ask.Job.
func (d *Dialogue) Next(results []ask.Result) ([]ask.Question, error) {
	if len(results) > 0 {
		if d.take(&results[0]); d.Rule != "" {
			return nil, nil
		}
	}
	turns := max(len(d.prompts), 1)
	if d.finished = len(d.Answers) == turns; d.finished {
		return nil, nil
	}
	wire := d.request()
	stored, err := judge.StoredRequest(wire, cmp.Or(d.model.Endpoint, llm.Chat), d.model.Revision, d.sample)
	if err != nil {
		return nil, d.At(0, err)
	}
	return []ask.Question{{
		Request: stored, Key: stored.Key(), Wire: wire,
		Client: d.model.Client, Expected: wire.MaxTokens / 2, Follow: turns - len(d.Answers) - 1,
	}}, nil
}

// request is what the next turn sends.
func (d *Dialogue) request() llm.Request {
	if d.wire != nil {
		return *d.wire
	}
	s := d.set.Recipe.Steps[d.step.Name]
	wire := llm.Request{Model: d.model.Name, Temperature: s.Temperature, TopP: s.TopP, MaxTokens: min(s.MaxTokens, cmp.Or(d.maxTokens, s.MaxTokens))}
	if len(d.Answers) == 0 {
		wire.Prompt = d.prompts[0]
		return wire
	}
	for i, a := range d.Answers {
		wire.Messages = append(wire.Messages, llm.Message{Role: "user", Content: d.prompts[i]}, llm.Message{Role: "assistant", Content: a})
	}
	wire.Messages = append(wire.Messages, llm.Message{Role: "user", Content: d.prompts[len(d.Answers)]})
	return wire
}

// take records an answer, or the reason why there is none.
func (d *Dialogue) take(r *ask.Result) {
	d.asked++
	a := &r.Answer
	switch {
	case r.Err != nil:
		d.Rule, d.Detail = RuleNoAnswer, r.Err.Error()
		if e, ok := errors.AsType[*llm.Error](r.Err); ok {
			d.Detail = "the server " + e.Cause() // without its address, which users of the items must not see
		}
	case !a.HasText || strings.TrimSpace(a.Text) == "" || a.FinishReason == llm.FinishContentFilter || a.FinishReason == llm.FinishNotUnicode:
		d.Rule, d.Detail = RuleNoAnswer, "the answer is withheld, empty or invalid UTF-8"
	case a.FinishReason == llm.FinishLength:
		d.Rule, d.Detail = RuleCut, fmt.Sprintf("the limit of tokens cut the answer to turn %d", len(d.Answers)+1)
	}
	if r.Err == nil {
		d.Answers = append(d.Answers, a.Text)
		d.promptTokens += a.PromptTokens
		d.completionTokens += a.CompletionTokens
	}
}

// Answered implements ask.Job.
func (d *Dialogue) Answered(_ int, r ask.Result) {
	if d.set.Observe != nil {
		d.set.Observe(r)
	}
}

// At implements ask.Job.
func (d *Dialogue) At(_ int, err error) error {
	return fmt.Errorf("%s, item %q: %w", d.step.Name, d.item.ID, err)
}

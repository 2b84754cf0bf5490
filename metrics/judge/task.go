package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Kinds of requests in the store, besides those of package cache.
const (
	kindConversation = "-messages"                 // after the endpoint: the prompt is the messages as JSON
	kindLikelihood   = "completions-with-logprobs" // the answer is the prompt's tokens
)

// task is one turn of a cell's conversation with the judge.
type task struct {
	block, hypothesis, column int
	fields                    Fields
	answers                   []string // to earlier turns
	cell                      *cell
	draw                      int // which of the cell's samples this is
	tries                     int // number of samples tried before this one
	room                      int // how often the answer's token limit was doubled

	question ask.Question
	prefix   int // of a likelihood: bytes of the prompt before the continuation

	answer cache.Answer
	err    error // set instead of answer
}

// cell collects the reports of all answers that are combined into its score.
type cell struct {
	reports []*analysis.Report // in the order of samples
	left    int
}

// sample is the sample index of a task's whole conversation. Repeated samples are numbered
// after the initial ones.
func (j *Judge) sample(t *task) int { return t.draw + t.tries*j.cfg.samples }

// tasks returns a task for each sample of a cell.
func (s *scoring) tasks(block, hypothesis, column int) []*task {
	b, n := &s.blocks[block], s.j.cfg.samples
	fields := Fields{Source: b.Source, Hypothesis: b.Hypotheses[hypothesis]}
	if column < len(b.References) {
		fields.Reference = b.References[column]
	}
	all, c := make([]*task, n), &cell{make([]*analysis.Report, n), n}
	for draw := range all {
		all[draw] = &task{block: block, hypothesis: hypothesis, column: column, fields: fields, cell: c, draw: draw}
	}
	return all
}

// prepare builds the request of a task.
func (j *Judge) prepare(t *task) error {
	wire, prefix := j.request(t)
	stored, err := StoredRequest(wire, j.cfg.judge.Endpoint(), j.cfg.revision, j.sample(t))
	if err != nil {
		return err
	}
	t.question = ask.Question{
		Request: stored, Key: stored.Key(), Wire: wire, Client: j.cfg.client, Follow: max(0, j.cfg.judge.Turns()-1-len(t.answers)),
	}
	t.prefix = prefix
	if wire.Schema != (llm.Schema{}) {
		plain := t.question
		plain.Wire.Schema = llm.Schema{}
		plain.Request, err = StoredRequest(plain.Wire, j.cfg.judge.Endpoint(), j.cfg.revision, j.sample(t))
		plain.Key = plain.Request.Key()
		t.question.Other = &plain
	}
	return err
}

// request returns what is sent to the model, and the prefix length of a likelihood.
func (j *Judge) request(t *task) (wire llm.Request, prefix int) {
	r := j.cfg.judge
	wire = r.Request(j.cfg.model, len(t.answers), t.fields, t.answers)
	if r.IsLikelihood() {
		prompt, _ := r.RenderLikelihood(t.fields)
		return wire, len(prompt)
	}
	wire.MaxTokens = j.cfg.maxTokens << t.room
	if sample := j.sample(t); sample > 0 {
		wire.Temperature = max(wire.Temperature, retryTemperature)
		if j.cfg.samples > 1 && j.cfg.judge.Endpoint() != llm.Messages { // so that a server's cache does not return the same answer; Messages take none
			extra := map[string]any{}
			maps.Copy(extra, wire.Extra)
			extra["seed"] = sample
			wire.Extra = extra
		}
	}
	if m := wire.Messages; len(m) == 1 && m[0].Role == "user" {
		wire.Prompt, wire.Messages = m[0].Content, nil
	}
	return wire, 0
}

// StoredRequest returns the key of a request in the store. revision is the revision of the
// model's weights; sample distinguishes answers to equal requests.
func StoredRequest(wire llm.Request, endpoint llm.Endpoint, revision string, sample int) (cache.Request, error) {
	r := cache.Request{Kind: string(endpoint), Model: wire.Model, Revision: revision, Prompt: wire.Prompt, Sample: sample}
	values := map[string]any{}
	maps.Copy(values, wire.Fields())
	values["temperature"], values["top_p"], values["max_tokens"] = wire.Temperature, wire.TopP, wire.MaxTokens
	if len(wire.Stop) > 0 {
		values["stop"] = wire.Stop
	}
	switch {
	case wire.PromptLogprobs:
		r.Kind = kindLikelihood
	case len(wire.Messages) > 0:
		messages, err := json.Marshal(wire.Messages)
		if err != nil {
			return r, fmt.Errorf("the conversation cannot be written as JSON: %w", err)
		}
		r.Kind, r.Prompt = string(endpoint)+kindConversation, string(messages)
	}
	var err error
	r.Params, err = cache.NewParams(values)
	return r, err
}

// readAnswer makes a report of the answer to a task, or returns the next task.
func (j *Judge) readAnswer(t *task) (*analysis.Report, *task) {
	a := &t.answer
	retries := j.cfg.policy.retry > 0
	switch {
	case t.err != nil:
		return &analysis.Report{Outcome: analysis.Missing, Detail: t.err.Error()}, nil
	case a.FinishReason == llm.FinishContentFilter:
		r := &analysis.Report{Outcome: analysis.Blocked, Detail: "the server withheld the answer"}
		if a.HasText {
			r.Raw = &a.Text
		}
		return r, nil
	case a.FinishReason == llm.FinishNotUnicode:
		r := &analysis.Report{Outcome: analysis.Unparseable, Detail: "the server sent invalid UTF-8 or half of a surrogate pair", Raw: &a.Text}
		return j.retried(t, r)
	case j.cfg.judge.IsLikelihood():
		return readLikelihood(a.Text, t.prefix), nil
	}
	if t.question.Follow > 0 && text.WithoutThoughts(a.Text) != "" {
		return nil, t.next(a.Text)
	}
	r := j.parser.Parse(a.Text)
	if a.FinishReason == llm.FinishReasoning {
		r.Detail += ": the server put the whole answer into its field for reasoning"
	}
	j.addErrors(t, r)
	if a.FinishReason == llm.FinishLength && !j.whole(a.Text, r) {
		if retries && t.room < j.cfg.policy.retry {
			return nil, t.again(func(n *task) { n.room++ })
		}
		r.Outcome, r.Score = analysis.Cut, nil
		r.Detail = "the token limit cut the answer off"
		return r, nil
	}
	return j.retried(t, r)
}

// addErrors adds the errors stated in earlier turns to a report.
func (j *Judge) addErrors(t *task, r *analysis.Report) {
	for i, p := range j.errors {
		if p == nil || i >= len(t.answers) {
			continue
		}
		listed := p.Parse(t.answers[i])
		r.Errors = append(r.Errors, listed.Errors...)
		if !listed.Outcome.HasScore() {
			if r.Detail != "" {
				r.Detail += "; "
			}
			r.Detail += fmt.Sprintf("the errors of turn %d cannot be read: %s", i+1, listed.Detail)
		}
	}
}

// retried returns another sample to replace a report without a score, if the policy asks
// for one.
func (j *Judge) retried(t *task, r *analysis.Report) (*analysis.Report, *task) {
	if p := j.cfg.policy; r.Outcome == analysis.Unparseable && t.tries < p.retry {
		return nil, t.again(func(n *task) { n.tries, n.answers = n.tries+1, nil })
	}
	return r, nil
}

// next returns the task of the turn after an answer.
func (t *task) next(answer string) *task {
	return t.again(func(n *task) { n.answers = append(n.answers[:len(n.answers):len(n.answers)], answer) })
}

// again returns another task for the same cell.
func (t *task) again(change func(*task)) *task {
	n := *t
	n.answer, n.err, n.question = cache.Answer{}, nil, ask.Question{}
	change(&n)
	return &n
}

// whole reports whether a truncated answer states its score nevertheless: a complete
// number, before any explanation. A list of errors is complete only at its end.
func (j *Judge) whole(text string, r *analysis.Report) bool {
	switch j.cfg.judge.answer.Kind {
	case answer.Number, answer.Stars, answer.Classes:
	default:
		return false
	}
	cut := strings.LastIndexAny(strings.TrimSpace(text), " \t\n")
	if !r.Outcome.HasScore() || cut < 0 {
		return false
	}
	before := j.parser.Parse(strings.TrimSpace(text)[:cut])
	return before.Outcome.HasScore() && *before.Score == *r.Score
}

// readLikelihood makes a report from the tokens of a prompt.
func readLikelihood(text string, prefix int) *analysis.Report {
	mean, n := 0.0, 0
	tokens, err := llm.ParseTokens(text)
	if err == nil {
		mean, n, err = meanLogprob(tokens, prefix)
	}
	if err != nil {
		return &analysis.Report{Outcome: analysis.Unparseable, Detail: err.Error(), Raw: &text}
	}
	return &analysis.Report{Outcome: analysis.Scored, Score: &mean, Detail: "mean of " + english.Count(n, "token"), Raw: &text}
}

// promptCut compares the server's count with the fewest tokens that the prompt can have:
// hardly any text has under one token per sixteen bytes.
func (t *task) promptCut() bool {
	counted := t.answer.PromptTokens
	if counted == 0 {
		return false
	}
	n := len(t.question.Wire.Prompt)
	for _, m := range t.question.Wire.Messages {
		n += len(m.Content)
	}
	return counted < n/16
}

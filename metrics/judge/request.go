package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Render returns the messages of turn (from 0) for the texts. answers are the answers to
// earlier turns. In the hardened form texts are fenced, and guard.Notice comes first: in
// chat as part of the system message, else before the prompt.
func (r *Resolved) Render(turn int, f Fields, answers ...string) (system, prompt string) {
	answer := ""
	if turn > 0 && turn <= len(answers) {
		answer = text.WithoutThoughts(answers[turn-1])
	}
	return r.render(r.turns[turn], turn == 0 || r.turns[turn].Fresh, f, answer)
}

func (r *Resolved) render(t resolvedTurn, first bool, f Fields, answer string) (system, prompt string) {
	system, prompt = t.System.render(f, answer, r.hardened), t.Prompt.render(f, answer, r.hardened)
	if r.definition.Trim {
		prompt = strings.Trim(prompt, "\n ")
	}
	switch {
	case !r.hardened || !first:
	case r.endpoint == llm.Completions:
		prompt = guard.Notice + "\n\n" + prompt
	case system == "":
		system = guard.Notice
	default:
		system = guard.Notice + "\n\n" + system
	}
	return system, prompt
}

// RenderLikelihood returns a likelihood's prompt, and the continuation to score.
func (r *Resolved) RenderLikelihood(f Fields) (prompt, continuation string) {
	return r.likelihood.Prompt.render(f, "", false), r.likelihood.Continuation.render(f, "", false)
}

// Request returns the request of turn (from 0) for a model. answers are the answers to
// earlier turns. A likelihood has one request, which asks for the log-probabilities of its
// prompt.
func (r *Resolved) Request(model string, turn int, f Fields, answers []string) llm.Request {
	s := r.definition.Sampling
	if r.likelihood != nil {
		prompt, continuation := r.RenderLikelihood(f)
		return llm.Request{
			Model: model, Prompt: prompt + continuation, TopP: 1, MaxTokens: 1,
			PromptLogprobs: true, Extra: maps.Clone(r.extra),
		}
	}
	req := llm.Request{
		Model: model, Temperature: s.Temperature, TopP: s.TopP,
		MaxTokens: s.MaxTokens, Stop: s.Stop, Extra: maps.Clone(r.extra),
	}
	if schema := r.schema(); schema != nil && turn == len(r.turns)-1 {
		req.Schema = llm.Schema{Name: "judgement", JSON: string(schema)}
	}
	if r.endpoint == llm.Completions {
		_, req.Prompt = r.Render(turn, f)
		return req
	}
	first := turn // of the conversation
	for first > 0 && !r.turns[first].Fresh {
		first--
	}
	for i := first; i <= turn; i++ {
		system, prompt := r.Render(i, f, answers...)
		if system != "" {
			req.Messages = append(req.Messages, llm.Message{Role: "system", Content: system})
		}
		if i == 0 {
			for k, e := range r.examples {
				_, p := r.render(r.shown[k], true, Fields{Source: e.Source, Reference: e.Reference, Hypothesis: e.Hypothesis}, "")
				req.Messages = append(req.Messages,
					llm.Message{Role: "user", Content: p}, llm.Message{Role: "assistant", Content: e.Answer})
			}
		}
		req.Messages = append(req.Messages, llm.Message{Role: "user", Content: prompt})
		if i < turn {
			req.Messages = append(req.Messages, llm.Message{Role: "assistant", Content: answers[i]})
		}
	}
	return req
}

// schema returns the JSON schema for the answer to the last turn, if any.
func (r *Resolved) schema() json.RawMessage {
	if r.likelihood != nil || !r.hardened && !r.definition.Structured {
		return nil
	}
	return r.answer.Schema()
}

// Hash returns a SHA-256 in hex of all that changes what is sent or how answers are read:
// prompts, examples, sampling, endpoint, answer and whether the judge is hardened. The
// model and the texts are not part of it.
func (r *Resolved) Hash() string {
	d := r.definition
	var fence []string
	if r.hardened {
		fence = []string{guard.Notice, guard.Fence(guard.Hypothesis, "<|x|> [Y]\n")}
	}
	content, err := json.Marshal(struct {
		Name       string
		Endpoint   llm.Endpoint
		Sampling   sampling
		Extra      map[string]any
		Turns      []resolvedTurn
		Examples   []example
		Trim       bool
		Schema     json.RawMessage
		Answer     answer.Spec
		Likelihood *resolvedLikelihood
		Direction  metrics.Direction
		Fence      []string
	}{
		r.Name(), r.endpoint, d.Sampling, r.extra, r.turns, r.examples, d.Trim, r.schema(),
		r.answer, r.likelihood, r.Info().Direction, fence,
	})
	if err != nil { // impossible: Extra comes from YAML, and the parser refuses what JSON cannot represent
		panic(fmt.Sprintf("judge: definition %s: %v", d.Name, err))
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

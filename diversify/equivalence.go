package diversify

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// Equivalence is Div-Ref's judge of generated references (section 4.3): a
// model is asked whether a reference and an answer convey the same meaning.
// It decodes greedily.
type Equivalence struct {
	Model     string
	Revision  string
	Endpoint  llm.Endpoint // the Client's; "" means llm.Chat
	MaxTokens int          // bounds the judge's answer; 0 means 16
	// From is the least doubt (see package doubt) about an answer that the judge
	// is asked about: 0 for all answers, measure.DoubtLimit for doubtful ones.
	From float64
	// Extra holds further fields of the request's body; they are part of what
	// determines an answer.
	Extra map[string]any
}

func (e *Equivalence) maxTokens() int { return cmp.Or(e.MaxTokens, 16) }

// prompt is the paper's.
func (Equivalence) prompt(reference, variant string) string {
	return "Sentence 1: " + reference + "\nSentence 2: " + variant +
		"\nDo sentence 1 and sentence 2 convey the same meaning?\n\n"
}

// equivalence is an Equivalence that is ready for use.
type equivalence struct {
	Equivalence
	params cache.Params
}

func newEquivalence(e Equivalence) (*equivalence, error) {
	e.Endpoint, e.MaxTokens = cmp.Or(e.Endpoint, llm.Chat), e.maxTokens()
	values := map[string]any{}
	maps.Copy(values, e.Extra)
	values["temperature"], values["top_p"], values["max_tokens"] = 0.0, 1.0, e.MaxTokens
	params, err := cache.NewParams(values)
	j := &equivalence{e, params}
	if err == nil {
		err = j.question("a", "b").Wire.Check(e.Endpoint)
	}
	if err != nil {
		return nil, fmt.Errorf("the judge of equivalence: %w", err)
	}
	return j, nil
}

// question asks whether a variant means what its reference does.
func (e *equivalence) question(reference, variant string) ask.Question {
	prompt := e.prompt(reference, variant)
	request := cache.Request{Kind: kind(e.Endpoint), Model: e.Model, Revision: e.Revision, Prompt: prompt, Params: e.params}
	return ask.Question{
		Request: request, Key: request.Key(), Expected: 1,
		Wire: llm.Request{Model: e.Model, Prompt: prompt, TopP: 1, MaxTokens: e.MaxTokens, Extra: e.Extra},
	}
}

// opinion reads a judge's answer, which must begin with yes or no. Anything
// else is no opinion.
func opinion(a *cache.Answer) (same, ok bool) {
	if !a.HasText || a.FinishReason == llm.FinishContentFilter {
		return false, false
	}
	return answer.YesOrNo(a.Text)
}

package diversify

import (
	"cmp"
	"fmt"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// Equivalence is Div-Ref's judge of generated references (section 4.3): a
// model is asked whether a reference and an answer convey the same meaning.
// It decodes greedily.
type Equivalence struct {
	Model    string
	Endpoint llm.Endpoint // the Client's; "" means llm.Chat
	// Alarmed has the judge asked only about answers that raised an alarm.
	Alarmed bool
}

// equivalence is an Equivalence that is ready for use.
type equivalence struct {
	Equivalence
	params cache.Params
}

// judgeTokens bound the judge's answer.
const judgeTokens = 16

func newEquivalence(e Equivalence) (*equivalence, error) {
	e.Endpoint = cmp.Or(e.Endpoint, llm.Chat)
	params, err := cache.NewParams(map[string]any{"temperature": 0.0, "top_p": 1.0, "max_tokens": judgeTokens})
	j := &equivalence{e, params}
	if err == nil {
		err = j.question("a", "b").Wire.Check(e.Endpoint)
	}
	if err != nil {
		return nil, fmt.Errorf("the judge of equivalence: %w", err)
	}
	return j, nil
}

// question asks whether a variant means what its reference does, by the paper's prompt.
func (e *equivalence) question(reference, variant string) ask.Question {
	prompt := "Sentence 1: " + reference + "\nSentence 2: " + variant +
		"\nDo sentence 1 and sentence 2 convey the same meaning?\n\n"
	request := cache.Request{Kind: kind(e.Endpoint), Model: e.Model, Prompt: prompt, Params: e.params}
	return ask.Question{
		Request: request, Key: request.Key(), Expected: 1,
		Wire: llm.Request{Model: e.Model, Prompt: prompt, TopP: 1, MaxTokens: judgeTokens},
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

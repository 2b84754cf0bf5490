package diversify

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/cache"
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
	// Client asks the judge; nil means that of the Config.
	Client ask.Completer
}

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
	e.Endpoint, e.MaxTokens = cmp.Or(e.Endpoint, llm.Chat), cmp.Or(e.MaxTokens, 16)
	params, err := cache.NewParams(map[string]any{"temperature": 0.0, "top_p": 1.0, "max_tokens": e.MaxTokens})
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
		Request: request, Key: request.Key(), Client: e.Client, Expected: 1,
		Wire: llm.Request{Model: e.Model, Prompt: prompt, TopP: 1, MaxTokens: e.MaxTokens},
	}
}

// opinion reads a judge's answer, which must begin with yes or no. Anything
// else is no opinion.
func opinion(a *cache.Answer) (same, ok bool) {
	if !a.HasText || a.FinishReason == llm.FinishContentFilter {
		return false, false
	}
	word := strings.TrimLeftFunc(a.Text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		word = word[:end]
	}
	switch strings.ToLower(word) {
	case "yes":
		return true, true
	case "no":
		return false, true
	}
	return false, false
}

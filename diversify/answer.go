package diversify

import (
	"strings"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
)

// Finish reasons of the OpenAI protocol that change what an answer is.
const (
	finishLength        = "length"
	finishContentFilter = "content_filter"
)

// answer is what a variant needs of a stored entry.
type answer struct {
	text   refract.Text // trimmed; missing if nothing is left
	finish string
	class  class

	promptTokens, completionTokens int
}

// class says what is wrong with an answer, if anything.
type class uint8

const (
	whole class = iota
	cut
	blocked
	empty
)

// newAnswer makes of an entry what a variant shows. The store keeps the raw
// text. What is withheld or blank becomes a missing text: as an empty
// reference it would be scored like any other.
func newAnswer(e cache.Entry) answer {
	a := answer{finish: e.FinishReason, promptTokens: e.PromptTokens, completionTokens: e.CompletionTokens}
	text := strings.TrimSpace(e.Text)
	switch {
	case !e.HasText || e.FinishReason == finishContentFilter:
		a.class = blocked
		return a
	case text == "":
		a.class = empty
		return a
	case e.FinishReason == finishLength:
		a.class = cut
	}
	a.text = refract.NewText(text)
	return a
}

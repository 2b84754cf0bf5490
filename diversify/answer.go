package diversify

import (
	"strings"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/llm"
)

// Verdicts of an Expander, in addition to those of package check.
const (
	// Failed: the model gave no answer because of the request.
	Failed = "failed"
	// NotEquivalent: the judge says that the meaning was changed.
	NotEquivalent = "not-equivalent"
	// NotUnicode: the answer is invalid UTF-8 or has half of a surrogate pair.
	NotUnicode = "not-unicode"
	// NotJSON: the answer is not the JSON object that was asked for.
	NotJSON = "not-json"
	// Unjudged: the judge was asked twice and gave no verdict.
	Unjudged = "unjudged"
)

// judgedBy begins the detail of a judge's verdict. An accepted variant has it if the checks
// had found it unlike its reference.
const judgedBy = "judged by "

// class says what is visibly wrong with an answer, if anything.
type class uint8

const (
	whole class = iota
	cut
	blocked
	empty
	broken // invalid Unicode
)

func classify(a *cache.Answer) class {
	switch {
	case a.FinishReason == llm.FinishContentFilter:
		return blocked
	case strings.TrimSpace(a.Text) == "":
		return empty
	case a.FinishReason == llm.FinishNotUnicode:
		return broken
	case a.FinishReason == llm.FinishLength:
		return cut
	}
	return whole
}

// unchecked returns the result for an answer without checks. A withheld or blank text
// becomes a missing one, because an empty reference would be scored like any other.
func unchecked(a *cache.Answer) check.Result {
	switch classify(a) {
	case blocked, empty:
		return check.Result{}
	}
	said, thought, ended := text.Answer(a.Text)
	switch {
	case !ended:
		return check.Result{}
	case !thought:
		said = strings.TrimSpace(a.Text)
	}
	return check.Result{Text: said, HasText: true}
}

// checked cleans and checks an answer.
func checked(s *check.Segment, reference int, a *cache.Answer, form string) check.Result {
	given := a.FinishReason != llm.FinishContentFilter // null is an empty answer
	r := s.Judge(check.Answer{Field: form != "", Reference: reference, Raw: a.Text, HasText: given, Finish: a.FinishReason})
	r.HasText = r.HasText && a.HasText // but it stays null
	if a.FinishReason == llm.FinishReasoning && r.Verdict == check.ReasonEmpty {
		r.Detail = "the server put the whole answer into its field for reasoning"
	}
	return r
}

// variant converts an answered request to a variant of the segment.
func (e *Expander) variant(j *job, a *asked) refract.Variant {
	c, f := &j.cells[a.cell], &e.forms[a.form]
	v := refract.Variant{
		Reference: c.reference,
		Prompt:    e.cfg.Prompts[c.prompt].Name,
		Sample:    a.sample,
		Model:     e.cfg.Model,
		Finish:    a.answer.FinishReason,
		Verdict:   a.result.Verdict,
		Detail:    a.result.Detail,
		Alarms:    a.alarms,
		Origin: &refract.Origin{
			Revision:         e.cfg.Revision,
			ServedModel:      a.answer.ServedModel,
			Sampling:         string(a.params),
			Form:             f.name,
			Cleaned:          a.result.Cleaned,
			PromptTokens:     a.answer.PromptTokens,
			CompletionTokens: a.answer.CompletionTokens,
			Created:          a.answer.Created,
		},
	}
	if a.result.HasText {
		v.Text = refract.NewText(a.result.Text)
	}
	if a.answer.HasText {
		v.Origin.Raw = refract.NewText(a.answer.Text)
	}
	return v
}

package build

import (
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// Rules that leave items out.
const (
	RuleNoAnswer      = "no-answer"            // the request failed, or the answer was withheld or is empty
	RuleCut           = "cut"                  // the token limit cut the answer
	RuleRefusal       = "refusal"              // the model declines to do what was asked
	RuleMalformed     = "malformed"            // the answer is not in the form that was asked for
	RuleNotDesignated = "not-designated"       // the errors are not the ones that were asked for
	RuleUnchanged     = "unchanged"            // the output with errors is the correct text
	RuleLanguage      = "wrong-language"       // a text is in another language than the correct one
	RulePenalty       = "implausible-penalty"  // a penalty is out of range, or a minor error costs more than 2.5
	RuleReference     = "speaks-of-reference"  // an explanation mentions a reference, which the metric does not see
	RuleLocation      = "location-not-in-text" // most words of a location are in neither output nor source
	RuleRepeat        = "repeat"               // an earlier item has the same texts
	RuleFeedback      = "no-feedback"          // the feedback on it cannot be read
	RuleLow           = "low-alignment"        // its alignment is below the required one
	RuleNotBest       = "not-best"             // another sample of the same output has a higher alignment
)

// rules lists the rules in the order in which they are applied.
var rules = []string{
	RuleNoAnswer, RuleCut, RuleRefusal, RuleMalformed, RuleNotDesignated, RuleUnchanged, RuleLanguage,
	RulePenalty, RuleReference, RuleLocation, RuleRepeat, RuleFeedback, RuleLow, RuleNotBest,
}

// Item is a candidate for an example. A rule may leave it out.
type Item struct {
	ID      string `json:"id"`
	Task    string `json:"task"`
	Channel string `json:"channel,omitempty"`
	// Rule left the item out because of Detail; both are "" for an example.
	Rule   string `json:"rule"`
	Detail string `json:"detail,omitempty"`
	// Group is the text by which examples are split into training and validation.
	Group      string `json:"group"`
	Source     string `json:"source,omitempty"`
	Reference  string `json:"reference,omitempty"`
	Hypothesis string `json:"hypothesis,omitempty"`
	// From says where the texts come from, such as a domain and a topic.
	From map[string]string `json:"from,omitempty"`
	// Asked are the errors that the teacher was asked to make.
	Asked   []analysis.Error `json:"asked,omitempty"`
	Errors  []analysis.Error `json:"errors,omitempty"`
	Answers []string         `json:"answers,omitempty"` // the teacher's, unchanged

	Prompt     string   `json:"-"` // of the example
	Completion string   `json:"-"`
	Alignment  *float64 `json:"alignment,omitempty"` // of a sample
	Validation bool     `json:"validation,omitempty"`

	report *analysis.Report // parsed from a sample
}

// itemOf returns an item for a segment, with its first reference.
func itemOf(s *refract.Segment, id string, from map[string]string) *Item {
	it := &Item{ID: id, Source: s.Source.Value, Reference: firstReference(s), From: from}
	if it.Group = it.Source; strings.TrimSpace(it.Group) == "" {
		it.Group = it.Reference
	}
	return it
}

func firstReference(s *refract.Segment) string {
	if i := slices.IndexFunc(s.References, func(r refract.Text) bool { return r.Valid }); i >= 0 {
		return s.References[i].Value
	}
	return ""
}

func (it *Item) texts() analysis.Texts {
	return analysis.Texts{Source: it.Source, Reference: it.Reference, Hypothesis: it.Hypothesis}
}

// leave leaves an item out by a rule, unless an earlier rule already has.
func (it *Item) leave(rule, detail string) {
	if it.Rule == "" {
		it.Rule, it.Detail = rule, detail
	}
}

// take copies the answers of a dialogue, and reports whether all turns were answered and no
// answer is a refusal.
func (it *Item) take(d *Dialogue) bool {
	it.Answers = d.Answers
	if it.Channel == ChannelSynthetic && len(d.Answers) > 0 {
		it.Hypothesis = text.WithoutThoughts(d.Answers[0])
	}
	if d.Rule != "" {
		it.leave(d.Rule, d.Detail)
	}
	for _, a := range d.Answers {
		it.leaveRefusal(it.Reference, a)
	}
	return it.Rule == ""
}

// leaveRefusal leaves an item out if a text of the model is a refusal, unless the text that
// it was made from is one, too.
func (it *Item) leaveRefusal(original, text string) {
	if why := refusal(text); why != "" && refusal(original) == "" {
		it.leave(RuleRefusal, why)
	}
}

// complete makes the item an example: the prompt that the metric sends for its
// texts, and the answer to it.
func (it *Item) complete(metric *judge.Resolved, answer string) {
	wire := metric.Request("", 0, it.texts(), nil)
	it.Prompt, it.Completion = wire.Prompt, answer
	if n := len(wire.Messages); n > 0 {
		it.Prompt = wire.Messages[n-1].Content
	}
}

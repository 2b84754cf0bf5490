package build

import (
	"cmp"
	"maps"
	"slices"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
)

// Rules by which items are left out.
const (
	RuleNoAnswer      = "no-answer"           // there is none, or it was withheld, or is empty
	RuleCut           = "cut"                 // the limit of tokens has cut the answer
	RuleRefusal       = "refusal"             // the model declines to do what was asked
	RuleMalformed     = "malformed"           // the answer is not of the form that was asked for
	RuleNotDesignated = "not-designated"      // its errors are not those that were asked for
	RuleUnchanged     = "unchanged"           // the output with errors is the correct text
	RuleLanguage      = "wrong-language"      // a text is in another language than the correct one
	RuleTalk          = "talk"                // it ends with words to the one who asks
	RuleRepeat        = "repeat"              // an earlier item has the same texts
	RulePenalty       = "implausible-penalty" // a penalty is out of its range, or a minor one is above 2.5
	RuleReference     = "speaks-of-reference" // an explanation speaks of a reference, which the metric does not see
	RuleFeedback      = "no-feedback"         // the feedback on it cannot be read
	RuleLow           = "low-alignment"
	RuleNotBest       = "not-best"             // another sample of its texts has a higher alignment
	RuleLocation      = "location-not-in-text" // most words of a location stand neither in the output nor in the source
)

// Rules lists the rules in the order in which they are applied.
func Rules() []string {
	return []string{
		RuleNoAnswer, RuleCut, RuleRefusal, RuleMalformed, RuleNotDesignated, RuleUnchanged, RuleLanguage, RuleTalk,
		RulePenalty, RuleReference, RuleLocation, RuleRepeat,
		RuleFeedback, RuleLow, RuleNotBest,
	}
}

// Item is one example in the making, or what became of one.
type Item struct {
	ID      string `json:"id"`
	Task    string `json:"task"`
	Channel string `json:"channel,omitempty"`
	// Rule is the one that left the item out, and Detail what it found; "" where
	// it is an example.
	Rule   string `json:"rule"`
	Detail string `json:"detail,omitempty"`
	// Group is the text that examples are split by.
	Group      string `json:"group"`
	Source     string `json:"source,omitempty"`
	Reference  string `json:"reference,omitempty"`
	Hypothesis string `json:"hypothesis,omitempty"`
	// From says where the texts come from, such as a domain and a topic.
	From map[string]string `json:"from,omitempty"`
	// Asked are the errors that the teacher was to make.
	Asked   []analysis.Error `json:"asked,omitempty"`
	Errors  []analysis.Error `json:"errors,omitempty"`
	Answers []string         `json:"answers,omitempty"` // of the teacher, as they came

	Prompt     string   `json:"-"` // of the example
	Completion string   `json:"-"`
	Alignment  *float64 `json:"alignment,omitempty"` // of a sample
	Validation bool     `json:"validation,omitempty"`
}

// leave leaves an item out by a rule, unless one has done so.
func (it *Item) leave(rule, detail string) {
	if it.Rule == "" {
		it.Rule, it.Detail = rule, detail
	}
}

// take takes in how a dialogue went, and reports whether it has all
// answers, and none is a refusal.
func (it *Item) take(d *Dialogue) bool {
	it.Answers = d.Answers
	if d.Rule != "" {
		it.leave(d.Rule, d.Detail)
	}
	for _, a := range d.Answers {
		it.refused(it.Reference, a)
	}
	return it.Rule == ""
}

// refused leaves an item out in which a text of the model is a refusal, unless the
// text that it is made of is one.
func (it *Item) refused(of, text string) {
	if why := refusal(text); why != "" && refusal(of) == "" {
		it.leave(RuleRefusal, why)
	}
}

// prompted gives the item the prompt that the metric sends for its texts.
func (it *Item) prompted(r *judge.Resolved) {
	wire := r.Request("", 0, judge.Fields{Source: it.Source, Reference: it.Reference, Hypothesis: it.Hypothesis}, nil)
	it.Prompt = wire.Prompt
	if len(wire.Messages) > 0 {
		it.Prompt = wire.Messages[len(wire.Messages)-1].Content
	}
}

// RuleCounts are how many items each rule left out.
type RuleCounts map[string]int

// Names lists them in the order of the rules.
func (c RuleCounts) Names() []string {
	order := Rules()
	return slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

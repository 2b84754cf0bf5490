package check

import (
	"slices"
	"strings"
)

// The cleaning steps, in their order.
const (
	StepSpace        = "space"        // white space around
	StepUnicode      = "unicode"      // characters that no one sees, entities, escapes
	StepToken        = "token"        // special tokens, thoughts, HTML
	StepFence        = "fence"        // a code fence, and what stands outside of it
	StepJSON         = "json"         // JSON around the text
	StepEmoji        = "emoji"        // pictographs
	StepMarkup       = "markup"       // Markdown
	StepRestated     = "restated"     // the prompt or the reference, before the rewriting
	StepTalk         = "talk"         // sentences, labels and notes about the task
	StepAlternatives = "alternatives" // all but the first of several rewritings
	StepList         = "list"         // a list number or bullet
	StepQuotes       = "quotes"       // quotation marks around
	StepLines        = "lines"        // line breaks, where the reference is one line
)

// Steps returns the names of all cleaning steps, in order.
func Steps() []string {
	var names []string
	for _, s := range allSteps() {
		names = append(names, s.name)
	}
	return names
}

// step is one way to clean. A step never takes what the reference has too, and never
// leaves nothing.
type step struct {
	name string
	do   func(c *Checker, t string, ref *original) string
}

func allSteps() []step {
	return []step{
		{StepSpace, func(_ *Checker, t string, _ *original) string { return t }}, // clean trims after each step
		{StepUnicode, undirt},
		{StepToken, untoken},
		{StepFence, unfence},
		{StepJSON, unjson},
		{StepEmoji, unemoji},
		{StepMarkup, unmark},
		{StepRestated, unrestate},
		{StepTalk, untalk},
		{StepAlternatives, first},
		{StepList, unlist},
		{StepQuotes, unquote},
		{StepLines, joinLines},
	}
}

// mostCleaned bounds in bytes what is looked into. A longer answer is no rewriting.
const mostCleaned = 1 << 13

// clean applies the steps until none changes the text, for what one takes off may show
// what another one takes off. It returns the names of those that changed it.
func (c *Checker) clean(raw string, ref *original) (t string, used []string) {
	t = raw
	if len(t) > mostCleaned || !says(t) {
		if t = strings.TrimSpace(t); t != raw && c.steps != nil {
			used = []string{StepSpace}
		}
		return t, used
	}
	const rounds = 12
	for range rounds {
		before := t
		for _, s := range c.steps {
			out := s.do(c, t, ref)
			if len(c.steps) > 0 && c.steps[0].name == StepSpace {
				out = strings.TrimSpace(out)
			}
			if out == t || strings.TrimSpace(out) == "" && s.name != StepSpace {
				continue
			}
			t = out
			if !slices.Contains(used, s.name) {
				used = append(used, s.name)
			}
		}
		if t == before {
			break
		}
	}
	return t, used
}

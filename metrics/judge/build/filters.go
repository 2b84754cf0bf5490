package build

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// filter applies the rules of the recipe (section 3.3).
func (b *MetricInstruct) filter(it *Item) {
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	for _, rule := range b.Recipe.Rules {
		if it.Rule != "" {
			return
		}
		why := ""
		switch rule {
		case RuleNotDesignated:
			why = it.otherAspects()
		case RuleUnchanged:
			if it.Channel == ChannelSynthetic && folded(it.Hypothesis) == folded(it.Reference) {
				why = "the output is the reference"
			}
		case RulePenalty:
			why = implausiblePenalty(it.Errors)
		case RuleReference:
			why = speaksOfReference(it)
		case RuleLocation:
			why = locationNotInText(it)
		case RuleTalk:
			why = it.talk()
		case RuleRepeat:
			it.repeats(b.seen)
		}
		if why != "" {
			it.leave(rule, why)
		}
	}
}

// otherAspects says whether the errors of a synthetic output are of aspects that
// were not asked for.
func (it *Item) otherAspects() string {
	if it.Channel != ChannelSynthetic {
		return ""
	}
	for _, e := range it.Errors {
		if !slices.ContainsFunc(it.Asked, func(a analysis.Error) bool { return sameWords(a.Aspect, e.Aspect) }) {
			return fmt.Sprintf("no error of %q was asked for", e.Aspect)
		}
	}
	if len(it.Errors) == 0 {
		return "there is no error"
	}
	return ""
}

// The bounds of penalties: those of the prompt, and for a minor error that of
// section 3.3.
const (
	leastPenalty     = 0.5
	mostPenalty      = 5
	mostMinorPenalty = 2.5
)

func implausiblePenalty(errors []analysis.Error) string {
	for i, e := range errors {
		switch p := *e.Penalty; {
		case p < leastPenalty || p > mostPenalty:
			return fmt.Sprintf("error %d costs %v, which is not within %v and %v", i+1, p, leastPenalty, mostPenalty)
		case e.Severity == analysis.Minor && p > mostMinorPenalty:
			return fmt.Sprintf("error %d is minor and costs %v, more than %v", i+1, p, mostMinorPenalty)
		}
	}
	return ""
}

var ofReference = regexp.MustCompile(`(?i)\b(?:reference|ground[- ]truth|gold(?:en)?[- ](?:standard|answer|output|translation|summary))\b`)

// speaksOfReference looks for a reference in explanations. Where the output or the
// source has the word itself, an explanation may well quote it.
func speaksOfReference(it *Item) string {
	if ofReference.MatchString(it.Source) || ofReference.MatchString(it.Hypothesis) {
		return ""
	}
	for i, e := range it.Errors {
		if word := ofReference.FindString(e.Explanation); word != "" {
			return fmt.Sprintf("the explanation of error %d says %q", i+1, word)
		}
	}
	return ""
}

// mostStrange is the share of a location's words that may stand neither in the
// output nor in the source. The paper says "too many".
const mostStrange = 0.5

// locationNotInText parts locations by spaces, as section 3.3 does. Marks around
// words do not count.
func locationNotInText(it *Item) string {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t\r\n.,;:!?\"'“”‘’()[]…", r) })
	}
	known := map[string]bool{}
	for _, w := range append(words(it.Hypothesis), words(it.Source)...) {
		known[w] = true
	}
	for i, e := range it.Errors {
		if e.Place.HasSpan() || e.Place == analysis.InSource {
			continue
		}
		strange, all := 0, words(e.Location)
		for _, w := range all {
			if !known[w] {
				strange++
			}
		}
		if float64(strange) > mostStrange*float64(len(all)) {
			return fmt.Sprintf("of the words at error %d, %d of %d stand neither in the output nor in the source", i+1, strange, len(all))
		}
	}
	return ""
}

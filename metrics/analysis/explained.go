package analysis

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// role is how an explanation refers to a phrase that it quotes.
type role uint8

const (
	unclear role = iota
	shown        // the output's own words
	wanted       // what should be there instead
	lacked       // what the output is said to omit
)

// claim is one quoted phrase of an explanation.
type claim struct {
	text string
	role role
	side string // "before" or "after": the side of the next quoted phrase on which a lacked one is missing
}

// Patterns for the words before and after a quotation, which decide its role. They cover
// judges that write English; in any other context a phrase is unclear, and nothing is
// concluded from it.
//
// ofKind is nounAtEnd without nouns for the sense of a phrase, such as "information".
const ofKind = `(?: (?:the|an?))?(?: (?:words?|phrases?|terms?|verb|noun|adjective|expression|pronoun|article|name))?[ (:,]*$`

var (
	instead = text.Regexp(`\b(?:instead of|rather than)(?: using)?` + nounAtEnd)
	better  = text.Regexp(`\b(?:(?:should|could|would) (?:be|have been|read|use)(?: (?:replaced|changed|corrected) (?:with|by|to))?|be (?:replaced with|corrected to)|` +
		`correct (?:term|word|phrase|form|spelling|translation) is)` + nounAtEnd)
	uses = text.Regexp(`\b(?:(?:translation|output|model|generation|summary|response|text) (?:incorrectly |also )?(?:uses|used|adds|introduces|contains|repeats)|` +
		`the (?:use|addition|inclusion|repetition) of|by (?:saying|stating|using|adding))` + ofKind)
	omits   = text.Regexp(`\b(?:omits|is missing|omission of|omitted|leaves out|lacks)` + nounAtEnd)
	missing = text.Regexp(`^(?:is|are) (?:missing|omitted|left out)(?:[ .,;]*$|[.,]| (?:in|from|before|after|between|at|which|and|here|making)\b)`)
	nextTo  = text.Regexp(`^(?:is missing )?(before|after)(?: the (?:word|phrase))?[ ,]*$`)
	subject = text.Regexp(`^the (?:informal )?(?:phrase|word|term|expression|phrasing|wording|pronoun|contraction|verb|noun|adjective|sentence)$`)
	said    = text.Regexp(`^(?:is|does|sounds|changes|adds|introduces|makes|should be|can be|was|implies|has|could be|may)\b`)
	unsaid  = text.Regexp(`^is (?:missing|omitted|absent|left out|better|more|not (?:mentioned|included|used|translated|present in)|present in the correct)\b|^should be (?:added|included)\b`)
	// another matches sentences that speak of a text other than the output.
	another = text.Regexp(`\b(?:correct|original|reference|source|should|could|would|better|intended|input|instruction|context)\b`)
)

// claims reads what an explanation says about the phrases that it quotes.
func claims(explanation string) []claim {
	quoted := quotations(explanation)
	out := make([]claim, len(quoted))
	sentence := ""
	for i, q := range quoted {
		out[i].text = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(q.text), ",.;:"))
		before, after := strings.ToLower(tail(q.before, 400)), strings.ToLower(head(strings.TrimLeft(q.after, " ,"), 64))
		if end := strings.LastIndex(before, ". "); end >= 0 {
			sentence, before = "", before[end+2:]
		}
		sentence += before
		elsewhere := another().MatchString(sentence)
		switch {
		case i > 0 && joins(before):
			out[i].role = out[i-1].role
		case better().MatchString(before) && !strings.Contains(before, "not be"):
			out[i].role = wanted
		case elsewhere:
		case omits().MatchString(before), missing().MatchString(after):
			out[i].role = lacked
			if m := nextTo().FindStringSubmatch(after); m != nil && i+1 < len(quoted) && (i == 0 || out[i-1].role != lacked) {
				out[i].side = m[1]
			}
		case instead().MatchString(before):
			if i > 0 && out[i-1].role == shown {
				out[i].role = wanted
			}
		case uses().MatchString(before), subject().MatchString(strings.TrimSpace(before)) && said().MatchString(after) && !unsaid().MatchString(after):
			out[i].role = shown
		}
	}
	return out
}

// checkTexts compares the errors with the texts: whether the output has what an explanation
// quotes from it, and whether it already has the correction where the error is.
func (r *Report) checkTexts(t Texts) {
	l := newLocator(t)
	for i := range r.Errors {
		e := &r.Errors[i]
		if e.Place == Unlocated {
			continue // not yet located, so the hypothesis may be unknown
		}
		if e.Place == Absent {
			r.problem(codeLocation, i, "the location %s does not stand in the output%s", shorten(e.Location), l.otherText(e.Location))
		}
		old, quotes, corrects := e.Location, false, false
		said := claims(e.Explanation)
		if !l.spend(e.Explanation, 2*len(said)) {
			return
		}
		for k, c := range said {
			if c.text == "" {
				continue
			}
			switch c.role {
			case shown:
				old = c.text
				if _, m := l.hypothesis.find(c.text); m == nowhere && !quotes {
					quotes = true
					r.problem(codeExplanation, i, "the explanation quotes %s as the output's, where it does not stand%s", shorten(c.text), l.otherText(c.text))
				}
			case wanted:
				if !corrects && l.stands(old, c.text) {
					corrects = true
					r.problem(codeCorrection, i, "the suggested correction %s already stands in the output", shorten(c.text))
				}
			case lacked:
				text, known := c.text, isDistinctive(c.text)
				switch c.side {
				case "before":
					text, known = text+" "+said[k+1].text, true
				case "after":
					text, known = said[k+1].text+" "+text, true
				}
				if !corrects && known && l.hypothesis.has(text) {
					corrects = true
					r.problem(codeCorrection, i, "%s, which the output is said to lack, stands in it", shorten(c.text))
				}
			}
		}
	}
}

// stands reports whether the output already has a correction instead of old.
func (l *locator) stands(old, correction string) bool {
	span, m := l.hypothesis.find(correction)
	if m != wordForWord && m != resembling {
		return false
	}
	if string(foldPhrase(old)) == string(foldPhrase(correction)) {
		return old == correction // a change of case or punctuation is a correction
	}
	at, m := l.hypothesis.find(old)
	if m == nowhere {
		return isDistinctive(correction)
	}
	// The output already reads like the correction around the words to be replaced.
	return span.Start <= at.Start && at.End <= span.End && span.End-span.Start > at.End-at.Start
}

// isDistinctive reports whether a phrase is unlikely to occur in a text by chance.
func isDistinctive(phrase string) bool {
	return len(strings.Fields(phrase)) > 1 && utf8.RuneCountInString(phrase) >= 8
}

// otherText says which other text contains a phrase that the hypothesis lacks.
func (l *locator) otherText(phrase string) string {
	switch {
	case l.reference.has(phrase):
		return ", but in the reference"
	case l.source.has(phrase):
		return ", but in the source"
	}
	return ""
}

// shorten quotes a phrase for people.
func shorten(s string) string {
	const most = 60
	if runes := []rune(head(s, 4*most)); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return fmt.Sprintf("%q", s)
}

package analysis

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkTexts compares what the errors say with the texts.
func (r *Report) checkTexts(t Texts, said [][]claim) {
	work := maxWork
	l := newLocator(t, &work)
	for i := range r.Errors {
		e := &r.Errors[i]
		if e.Place == Unlocated {
			continue // nobody has looked, so that the hypothesis may be unknown
		}
		if e.Place == Absent {
			r.problem(CodeLocation, i, "the location %s does not stand in the output%s", shorten(e.Location), l.elsewhere(e.Location))
		}
		r.checkShown(i, said[i], l)
		r.checkCorrection(i, said[i], l)
	}
}

// checkShown looks for a phrase that an explanation quotes as the output's and
// that the output does not have.
func (r *Report) checkShown(i int, said []claim, l *locator) {
	for _, c := range said {
		if c.role != shown || c.text == "" {
			continue
		}
		if _, m := l.hypothesis.find(c.text); m == nowhere && *l.hypothesis.work >= 0 {
			r.problem(CodeExplanation, i, "the explanation quotes %s as the output's, where it does not stand%s",
				shorten(c.text), l.elsewhere(c.text))
			return
		}
	}
}

// checkCorrection looks for a suggested correction that the output already has
// where the error is.
func (r *Report) checkCorrection(i int, said []claim, l *locator) {
	e := &r.Errors[i]
	for j, c := range said {
		if c.text == "" {
			continue
		}
		switch c.role {
		case wanted:
			// What it is to replace: the phrase that the explanation shows, or else the location.
			old := e.Location
			for k := j - 1; k >= 0; k-- {
				if said[k].role == shown {
					old = said[k].text
					break
				}
			}
			if l.stands(old, c.text) {
				r.problem(CodeCorrection, i, "the suggested correction %s already stands in the output", shorten(c.text))
				return
			}
		case lacked:
			if l.standsBeside(c) {
				r.problem(CodeCorrection, i, "%s, which the output is said to lack, stands in it", shorten(c.text))
				return
			}
		}
	}
}

// stands reports whether the output already has a correction in place of old.
func (l *locator) stands(old, correction string) bool {
	span, m := l.hypothesis.find(correction)
	if m != wordForWord && m != resembling {
		return false
	}
	if string(foldPhrase(old)) == string(foldPhrase(correction)) {
		return old == correction // a change of case or of marks is one
	}
	at, m := l.hypothesis.find(old)
	if m == nowhere {
		return isDistinctive(correction) && *l.hypothesis.work >= 0
	}
	// The output reads as the correction around what it is to replace.
	return span.Start <= at.Start && at.End <= span.End && span.End-span.Start > at.End-at.Start
}

// standsBeside reports whether the output has a phrase that it is said to
// lack, and where it is said to lack it.
func (l *locator) standsBeside(c claim) bool {
	if c.prefix != "" || c.suffix != "" {
		return l.hypothesis.has(strings.TrimSpace(c.prefix + " " + c.text + " " + c.suffix))
	}
	if !isDistinctive(c.text) {
		return false
	}
	return l.hypothesis.has(c.text)
}

// isDistinctive reports whether a phrase does not stand in a text by chance.
func isDistinctive(phrase string) bool {
	return len(strings.Fields(phrase)) > 1 && utf8.RuneCountInString(phrase) >= 8
}

// elsewhere says where a phrase stands that the hypothesis lacks.
func (l *locator) elsewhere(phrase string) string {
	if l.reference.has(phrase) {
		return ", but in the reference"
	}
	if l.source.has(phrase) {
		return ", but in the source"
	}
	return ""
}

// shorten quotes a phrase for people.
func shorten(s string) string {
	const most = 60
	for i, n := 0, 0; i < len(s); n++ {
		if n == most {
			return fmt.Sprintf("%q…", s[:i])
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return fmt.Sprintf("%q", s)
}

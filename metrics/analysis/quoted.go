package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotation is a phrase in quotation marks within a longer text.
type quotation struct {
	text   string // without the marks
	before string // what stands between the quotation before it, or the start, and this one
	after  string // what stands between this one and the next, or the end
}

// maxQuotations bounds the quotations that are looked at in one text.
const maxQuotations = 32

// quotations returns the phrases of s that stand in quotation marks, the first
// maxQuotations of them. An apostrophe opens and closes nothing within a word.
func quotations(s string) []quotation {
	var out []quotation
	var none [len(markKinds)]bool // by kind of mark: no closing mark follows, so that nobody looks again
	last := 0                     // where the text before the next quotation begins
	previous := ' '
	for i := 0; i < len(s) && len(out) < maxQuotations; {
		r, n := utf8.DecodeRuneInString(s[i:])
		kind := markKind(r)
		open := kind >= 0 && !none[kind] && (!isSingleQuote(r) || !inWord(previous))
		previous = r
		if !open {
			i += n
			continue
		}
		at, width := closingMark(s[i+n:], r)
		if at < 0 {
			none[kind] = true
			i += n
			continue
		}
		text := s[i+n : i+n+at]
		end := i + n + at + width
		if strings.TrimSpace(text) != "" {
			if len(out) > 0 {
				out[len(out)-1].after = s[last:i]
			}
			out = append(out, quotation{text: text, before: s[last:i]})
			last = end
		}
		previous, i = '"', end
	}
	if len(out) > 0 {
		out[len(out)-1].after = s[last:]
	}
	return out
}

// markKinds has a mark of each kind that closes alike.
var markKinds = [...]rune{'"', '\'', '«', '「', '『'}

func markKind(r rune) int {
	for i, m := range markKinds {
		if r == m || i == 0 && isDoubleQuote(r) || i == 1 && isSingleQuote(r) {
			return i
		}
	}
	return -1
}

// closingMark returns the offset in s of the mark that closes a quotation that
// r opened, and its width, or -1. s begins behind r.
func closingMark(s string, r rune) (at, width int) {
	if c := closing(r); c != 0 {
		return strings.IndexRune(s, c), utf8.RuneLen(c)
	}
	previous := ' '
	for i, c := range s {
		n := utf8.RuneLen(c)
		switch {
		case isSingleQuote(r) && isSingleQuote(c):
			next, _ := utf8.DecodeRuneInString(s[i+n:])
			if !unicode.IsSpace(previous) && (i+n == len(s) || !inWord(next)) {
				return i, n
			}
		case !isSingleQuote(r) && isDoubleQuote(c):
			return i, n
		}
		previous = c
	}
	return -1, 0
}

// Unquote removes white space and a pair of quotation marks around all of s,
// also where s quotes something itself: `"the "big" one"`. What only begins and
// ends with quotations, as `"X" instead of "Y"`, stays as it is.
func Unquote(s string) string {
	s = strings.TrimSpace(s)
	first, n := utf8.DecodeRuneInString(s)
	last, m := utf8.DecodeLastRuneInString(s)
	kind := markKind(first)
	if len(s) < n+m || kind < 0 {
		return s
	}
	within := s[n : len(s)-m]
	switch c := closing(first); {
	case c != 0 && last != c, c == 0 && markKind(last) != kind:
		return s
	case c != 0 && !strings.ContainsRune(within, c), c == 0 && !endsFirst(within, kind):
		return strings.TrimSpace(within)
	}
	return s
}

// endsFirst reports whether the first mark of a kind in s closes a quotation,
// and does not open one.
func endsFirst(s string, kind int) bool {
	previous := ' '
	for i, r := range s {
		_, n := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		if markKind(r) == kind && (isDoubleQuote(r) || !glued(previous, next)) {
			return !unicode.IsSpace(previous) && previous != '('
		}
		previous = r
	}
	return false
}

// requote gives a location of which someone took the outer marks for a pair,
// as in `X" instead of "Y`, these marks back.
func requote(s string) string {
	if endsFirst(s, 0) {
		return `"` + s + `"`
	}
	return s
}

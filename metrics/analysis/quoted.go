package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotation is a phrase in quotation marks within a longer text.
type quotation struct {
	text   string // without the marks
	before string // text between the previous quotation, or the start, and this one
	after  string // text between this one and the next, or the end
}

// maxQuotations bounds the quotations searched for in one text.
const maxQuotations = 32

// quotations returns the quoted phrases of s, at most maxQuotations. An apostrophe within a
// word is not a quotation mark.
func quotations(s string) []quotation {
	var out []quotation
	var none [len(markKinds)]bool // by kind of mark: no closing mark follows, so there is no need to search again
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

// markKinds has one mark for each closing mark.
var markKinds = [...]rune{'"', '\'', '«', '「', '『'}

func markKind(r rune) int {
	for i, m := range markKinds {
		if r == m || i == 0 && isDoubleQuote(r) || i == 1 && isSingleQuote(r) {
			return i
		}
	}
	return -1
}

// closingMark returns the offset in s of the mark that closes a quotation opened by r, and
// its width, or -1. s begins after r.
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

// Unquote removes white space and a pair of quotation marks around all of s, even if s
// contains quotations: `"the "big" one"`. A text that only begins and ends with quotations,
// such as `"X" instead of "Y"`, stays as it is.
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

// endsFirst reports whether the first mark of a kind in s closes a quotation instead of
// opening one.
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

// requote restores the outer marks of a location such as `X" instead of "Y`, which were
// removed as if they were a pair.
func requote(s string) string {
	if endsFirst(s, 0) {
		return `"` + s + `"`
	}
	return s
}

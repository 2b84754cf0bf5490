package check

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closers has, for each opening quotation mark, the marks that close it.
var closers = map[rune]string{
	'"': `"”“`, '“': `”"`, '„': `“”"`, '”': `”`, '«': "»", '»': "«", '「': "」", '『': "』", '《': "",
	'\'': `'’`, '‘': "’'", '‚': "‘’'", '‹': "›",
}

const quoteMarks = "\"“”„«»「」『』‘’‚‹›'＂"

// unquote takes off quotation marks around the whole text. A reference that
// begins or ends with one keeps them, and so does a text in which the first
// mark is closed before the end.
func unquote(_ *Checker, t string, ref *original) string {
	first, n := utf8.DecodeRuneInString(t)
	closing, ok := closers[first]
	if !ok || ref.text == "" {
		return t
	}
	last, m := utf8.DecodeLastRuneInString(t)
	if len(t) <= n+m || !strings.ContainsRune(closing, last) || isQuote(firstRune(ref.text)) || endsInQuote(ref.text) {
		return t
	}
	inner := t[n : len(t)-m]
	if !wraps(first, closing, inner) {
		return t
	}
	return inner
}

func isQuote(r rune) bool { return strings.ContainsRune(quoteMarks, r) }

// endsInQuote also looks before a full stop: “so he said”.
func endsInQuote(t string) bool {
	return isQuote(lastRune(t)) || isQuote(lastRune(strings.TrimRightFunc(t, func(r rune) bool { return isStop(r) || r == ',' })))
}

// wraps reports whether marks around inner belong together: each closing mark
// inside closes one that was opened inside.
func wraps(open rune, closing, inner string) bool {
	depth := 0
	before := rune(-1) // the character before
	for i := 0; i < len(inner); {
		r, n := utf8.DecodeRuneInString(inner[i:])
		i += n
		next := firstRune(inner[i:])
		switch {
		case r == '\'' && unicode.IsLetter(before), r == '’' && unicode.IsLetter(before) && unicode.IsLetter(next):
			// an apostrophe
		case r == open && opens(r, before, next):
			depth++
		case strings.ContainsRune(closing, r) || r == open:
			if depth--; depth < 0 {
				return false
			}
		}
		before = r
	}
	return depth == 0
}

// opens reports whether a mark begins a quotation, which only its neighbours
// tell where both marks look the same.
func opens(r, before, next rune) bool {
	if r != '"' && r != '\'' && r != '”' {
		return true
	}
	free := before == -1 || unicode.IsSpace(before) || unicode.In(before, unicode.Ps, unicode.Pi, unicode.Pd) || before == '"' || before == '\''
	return free && next != utf8.RuneError && !unicode.IsSpace(next)
}

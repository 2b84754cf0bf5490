package guard

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The flags that are not found by patterns.
const (
	// FlagClosingQuote: a double quote that would close the field of a prompt,
	// followed by something like more of a prompt or an answer, or by any text if
	// no quote was open.
	FlagClosingQuote = "closing-quote"
	// FlagControl: control characters, and invisible characters that no script needs
	// in that place.
	FlagControl = "control"
)

// Flags returns the flags of a text that goes to a judge, sorted; nil if nothing is suspicious. It
// takes time linear in the length of the text. Patterns find a token with which a model begins or
// ends a text (end-of-sequence), a token or heading that begins another turn of a chat
// (role-token), words that tell the judge what to do (instruction), and a statement of a score, or
// that there are no errors, in the way in which a judge answers (score-phrase).
//
// Instructions and scores are recognised in English, German, French, Spanish,
// Russian, Chinese and Japanese, also in full-width letters and with invisible
// characters between letters.
func Flags(text string) []string {
	plain, found := normalize(text), map[string]bool{FlagControl: hasControl(text), FlagClosingQuote: closesQuote(text)}
	for _, p := range patterns() {
		found[p.flag] = found[p.flag] || p.matches(plain)
	}
	maps.DeleteFunc(found, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(found))
}

// closesQuote looks for a double quote that closes although none was opened, with a
// letter somewhere after it. In a prompt that puts the text between quotes, that rest
// would be outside of them. Quotes of other kinds count as opening ones, because
// outputs mix them; inch marks do not count.
func closesQuote(text string) bool {
	depth := 0
	closed := false
	var last rune // 0 at the start
	for i, r := range text {
		before := last
		last = r
		if closed && unicode.IsLetter(r) {
			return true
		}
		if !isDoubleQuote(r) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if i+utf8.RuneLen(r) == len(text) {
			next = ' '
		}
		opens := before == 0 || opensBefore(before)
		closes := !wordish(next)
		switch {
		case opens && !closes:
			depth++
		case closes && !opens:
			if depth > 0 {
				depth--
			} else if r == '"' && !unicode.IsDigit(before) {
				closed = true
			}
		case depth > 0: // may open or close, as between letters of a script without spaces
			depth--
		default:
			depth++
		}
	}
	return false
}

// opensBefore reports whether a quote after r is an opening one.
func opensBefore(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pd, unicode.Sm) || isDoubleQuote(r) || strings.ContainsRune("'/:：，=<", r)
}

func wordish(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) }

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lower maps s to lower case as str.lower does: rune by rune, but that "İ"
// becomes "i̇" and that a capital sigma at the end of a word becomes "ς". The
// casers of golang.org/x/text end words elsewhere.
func Lower(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch r {
		case 'İ':
			b.WriteString("i\u0307")
		case 'Σ':
			if finalSigma(s, i) {
				b.WriteRune('ς')
			} else {
				b.WriteRune('σ')
			}
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// finalSigma is the condition Final_Sigma of the Unicode standard (table
// 3-17) for the sigma at byte i of s: a cased letter before it and none after
// it, case-ignorable characters aside.
func finalSigma(s string, i int) bool {
	for before := s[:i]; ; {
		r, n := utf8.DecodeLastRuneInString(before)
		if n == 0 {
			return false
		}
		if !caseIgnorable(r) {
			if !cased(r) {
				return false
			}
			break
		}
		before = before[:len(before)-n]
	}
	for after := s[i+len("Σ"):]; ; {
		r, n := utf8.DecodeRuneInString(after)
		if n == 0 {
			return true
		}
		if !caseIgnorable(r) {
			return !cased(r)
		}
		after = after[n:]
	}
}

func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// caseIgnorable is the property Case_Ignorable: marks, format characters,
// modifiers, and what may stand inside a word.
func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lower maps s to lower case as Python's str.lower does: by Unicode's full,
// language-independent mappings. "İ" becomes two code points, and a capital sigma
// at the end of a word becomes "ς". Each byte of invalid UTF-8 becomes U+FFFD. The
// caser of golang.org/x/text treats a sigma after a modifier letter, or before
// more than thirty marks, differently.
func Lower(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return string(AppendLower(make([]byte, 0, len(s)), s))
		}
	}
	return strings.ToLower(s)
}

// AppendLower appends Lower(s) to dst.
func AppendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 'Σ' && endsWord(s[:i], s[i+n:]):
			dst = append(dst, "ς"...)
		case r == 'İ':
			dst = append(dst, "i\u0307"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

// endsWord reports whether a sigma between two texts meets the condition Final_Sigma
// of the Unicode standard (table 3-17): a cased letter before it and none after it,
// ignoring case-ignorable characters.
func endsWord(before, after string) bool {
	for {
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
	for _, r := range after {
		if !caseIgnorable(r) {
			return !cased(r)
		}
	}
	return true
}

// cased reports whether a character that is not case-ignorable has the property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// caseIgnorable reports whether a character has the property Case_Ignorable: marks,
// format characters, modifiers, and punctuation that may be part of a word.
func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

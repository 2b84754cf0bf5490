package ter

import (
	"unicode"
	"unicode/utf8"
)

// appendLower appends s in lower case by the full mappings of Unicode that
// depend on no language, which is what Python's str.lower does: İ becomes two
// code points, and Σ depends on its neighbours. The caser of
// golang.org/x/text differs from it for a Σ behind a modifier letter and
// before more than thirty marks, hence not used.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 'Σ' && isFinal(s[:i], s[i+size:]):
			dst = append(dst, "ς"...)
		case r == 'İ':
			dst = append(dst, "i\u0307"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += size
	}
	return dst
}

// isFinal tells whether a sigma between the two texts ends a word (Unicode
// Standard, table 3-17, Final_Sigma): a cased letter stands before it and
// none after it, whatever case-ignorable characters lie between.
func isFinal(before, after string) bool {
	cased := false
	for len(before) > 0 {
		r, size := utf8.DecodeLastRuneInString(before)
		before = before[:len(before)-size]
		if !isCaseIgnorable(r) {
			cased = isCased(r)
			break
		}
	}
	if !cased {
		return false
	}
	for _, r := range after {
		if !isCaseIgnorable(r) {
			return !isCased(r)
		}
	}
	return true
}

// isCased is the property Cased of a character that is not case-ignorable.
func isCased(r rune) bool {
	return unicode.In(r, unicode.Ll, unicode.Lu, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is the property Case_Ignorable. The characters listed are
// those whose Word_Break is MidLetter, MidNumLet or Single_Quote.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '\u00b7', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

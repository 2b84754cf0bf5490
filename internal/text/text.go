// Package text holds the few rules on white space and case that Python's str
// type defines and that the field's reference implementations are written
// in. Go's own differ in details that change scores.
package text

import (
	"strings"
	"unicode/utf8"
)

// IsSpace reports whether Python's str.isspace is true for r. It differs
// from unicode.IsSpace by the four separators U+001C to U+001F.
func IsSpace(r rune) bool {
	switch {
	case r <= ' ':
		return r == ' ' || (r >= '\t' && r <= '\r') || (r >= 0x1c && r <= 0x1f)
	case r < 0x1680:
		return r == 0x85 || r == 0xa0
	case r >= 0x2000 && r <= 0x200a:
		return true
	default:
		return r == 0x1680 || r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f || r == 0x3000
	}
}

// Trim removes white space from both ends, as str.strip does.
func Trim(s string) string { return TrimRight(strings.TrimLeftFunc(s, IsSpace)) }

// TrimRight removes white space from the end, as str.rstrip does.
func TrimRight(s string) string {
	for len(s) > 0 {
		c := s[len(s)-1]
		if c < utf8.RuneSelf {
			if !IsSpace(rune(c)) {
				return s
			}
			s = s[:len(s)-1]
			continue
		}
		r, n := utf8.DecodeLastRuneInString(s)
		if !IsSpace(r) {
			return s
		}
		s = s[:len(s)-n]
	}
	return s
}

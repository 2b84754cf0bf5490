// Package text holds rules on characters and words: which characters are invisible
// when printed, and how white space and case work in Python's str type. The
// field's reference implementations rely on Python's rules, and Go's differ in
// details that change scores. The tables are of Unicode 15.0, Go's version and that
// of Python 3.12.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character is a control character or invisible when
// printed. The joiners U+200C and U+200D do not count as hidden, because scripts and
// emoji need them.
func Hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r < 0xa0:
		return true // DEL and the C1 controls
	case r < 0x600 && r != 0xad, r > 0x3000 && r < 0xd800:
		return false // there are none in this range; skips the tables
	case r == 0x200c || r == 0x200d:
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // format characters by category, but drawn
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// IsSpace reports whether Python's str.isspace is true for r. Unlike
// unicode.IsSpace it includes the four separators U+001C to U+001F.
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

// Brief shortens untrusted text, so that a message stays readable.
func Brief(s string) string {
	if b := head(s); b != s {
		return b + "…"
	}
	return s
}

// Quote quotes untrusted text for a message: escaped, and shortened if long.
func Quote(s string) string {
	if b := head(s); b != s {
		return strconv.Quote(b) + "…"
	}
	return strconv.Quote(s)
}

// Path formats the name of a file for a message: unchanged, or quoted if it has
// invisible characters.
func Path(s string) string {
	if strings.ContainsFunc(s, Hidden) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

func head(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

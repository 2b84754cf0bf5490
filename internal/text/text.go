// Package text holds rules on characters: which are hidden where they are
// printed, and the few on white space and case that Python's str
// type defines and that the field's reference implementations are written
// in. Go's own differ in details that change scores. The tables are those of
// the Unicode version that Go has, 15.0, as in Python 3.12.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character controls something, or is not seen,
// where it is printed. The joiners U+200C and U+200D are not hidden: scripts
// and emoji need them.
func Hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r < 0xa0:
		return true // DEL and the C1 controls
	case r < 0x600 && r != 0xad, r > 0x3000 && r < 0xd800:
		return false // none there: this spares the tables
	case r == 0x200c || r == 0x200d:
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // format characters in name, but drawn
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

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
func Trim[T string | []byte](s T) T {
	s = TrimRight(s)
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		}
		if !IsSpace(r) {
			return s[i:]
		}
		i += n
	}
	return s[len(s):]
}

// TrimRight removes white space from the end, as str.rstrip does.
func TrimRight[T string | []byte](s T) T {
	for len(s) > 0 {
		r, n := rune(s[len(s)-1]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeLastRuneInString(string(s[max(0, len(s)-utf8.UTFMax):]))
		}
		if !IsSpace(r) {
			return s
		}
		s = s[:len(s)-n]
	}
	return s
}

// Brief cuts untrusted text, so that a message stays readable.
func Brief(s string) string {
	if b := head(s); b != s {
		return b + "…"
	}
	return s
}

// Quote writes untrusted text for a message: escaped, and cut when long.
func Quote(s string) string {
	if b := head(s); b != s {
		return strconv.Quote(b) + "…"
	}
	return strconv.Quote(s)
}

// Path writes the name of a file for a message: as it is, or quoted where it has
// characters that do not show.
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

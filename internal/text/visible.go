package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible returns s in a form that is safe to print on one line of a terminal.
// Control characters (ANSI escapes begin with one), bidirectional controls and
// other invisible characters are written as \n, \x1b, \u202e and the like, and
// bytes that are not UTF-8 as U+FFFD. The joiners U+200C and U+200D are kept,
// because scripts and emoji need them. Backslashes are kept, too: the result is for
// reading, not for decoding.
func Visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case !Hidden(r):
			b.WriteRune(r) // U+FFFD if the byte is not UTF-8
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// VisibleLines applies Visible to each line of s.
func VisibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

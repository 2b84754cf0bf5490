package text

import (
	"strings"
	"unicode/utf8"
)

// StartsFormula reports whether tables for spreadsheets must put an apostrophe before
// s: because a spreadsheet may take s for a formula, or because s looks as if it had
// such an apostrophe already.
func StartsFormula(s string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "'"))
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}

// Unguarded removes the apostrophe that StartsFormula asks for.
func Unguarded(s string) string {
	if strings.HasPrefix(s, "'") && StartsFormula(s) {
		return s[1:]
	}
	return s
}

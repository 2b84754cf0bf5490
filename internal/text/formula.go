package text

import (
	"strings"
	"unicode/utf8"
)

// StartsFormula reports whether tables for spreadsheets must put an apostrophe before
// s: because a spreadsheet may take s for a formula, or because s looks as if it had
// such an apostrophe already.
func StartsFormula(s string) bool {
	for s != "" && s[0] == '\'' {
		s = s[1:]
	}
	if s == "" {
		return false
	}
	if s[0] < utf8.RuneSelf {
		switch s[0] {
		case '=', '+', '-', '@', '\t', '\r', '\n':
			return true
		}
		return false
	}
	switch r, _ := utf8.DecodeRuneInString(s); r {
	case '＝', '＋', '－', '＠':
		return true
	}
	return false
}

// Unguarded removes the apostrophe that StartsFormula asks for.
func Unguarded(s string) string {
	if strings.HasPrefix(s, "'") && StartsFormula(s) {
		return s[1:]
	}
	return s
}

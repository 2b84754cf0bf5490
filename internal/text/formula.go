package text

import (
	"strings"
	"unicode/utf8"
)

// StartsFormula reports whether a spreadsheet may take s for a formula, or s
// reads like a string that was guarded against that: tables for spreadsheets have
// an apostrophe before it.
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

// Unguarded removes the apostrophe that tables have before what StartsFormula.
func Unguarded(s string) string {
	if strings.HasPrefix(s, "'") && StartsFormula(s) {
		return s[1:]
	}
	return s
}

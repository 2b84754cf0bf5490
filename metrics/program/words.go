package program

import (
	"errors"
	"strings"
)

// words splits a command line as a POSIX shell does, but knows only quoting: blanks
// separate words, '…' takes everything literally, "…" everything except a backslash before
// one of " and \, and a backslash outside of quotes takes the next character literally.
func words(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	var quote rune
	in, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			in, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if in {
				all = append(all, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("the quote " + string(quote) + " has no end")
	case escaped:
		return nil, errors.New("a backslash stands at the end")
	case in:
		all = append(all, word.String())
	}
	return all, nil
}

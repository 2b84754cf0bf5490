package dataset

import (
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
)

// AppendPythonList appends a Python list literal of strings, on one line, with
// None for a missing text: a line of Div-Ref's format. Quotes are chosen as
// repr chooses them. What does not print, or ends a line in some reader, is
// escaped; all else stands for itself.
func AppendPythonList(b []byte, texts []refract.Text) []byte {
	b = append(b, '[')
	for i, t := range texts {
		if i > 0 {
			b = append(b, ", "...)
		}
		if t.Valid {
			b = appendPythonString(b, t.Value)
		} else {
			b = append(b, "None"...)
		}
	}
	return append(b, ']')
}

func appendPythonString(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	const hex = "0123456789abcdef"
	b = append(b, quote)
	for _, r := range s {
		switch {
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\\', r == rune(quote):
			b = append(b, '\\', byte(r))
		case r < ' ', 0x7f <= r && r <= 0xa0:
			b = append(b, '\\', 'x', hex[r>>4], hex[r&15])
		case r == '\u2028', r == '\u2029', r == '\ufeff':
			b = append(b, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, quote)
}

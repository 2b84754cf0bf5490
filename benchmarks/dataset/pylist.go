package dataset

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
)

// pyList reads a Python list literal of strings, as repr writes it: strings in single or
// double quotes with escapes, and None as a missing text.
type pyList struct {
	s   string
	i   int
	pos refract.Position
	// gaps reads arrays as NumPy writes them too, with white space and no comma between
	// texts: pandas and datasets put them into a CSV.
	gaps bool
}

func parsePythonList(line string, pos refract.Position) ([]refract.Text, error) {
	return (&pyList{s: line, pos: pos}).list()
}

func (p *pyList) list() ([]refract.Text, error) {
	if i := strings.IndexByte(p.s, 0); i >= 0 {
		return nil, p.fail(i, "a zero byte, which Python takes in no literal; repr writes \\x00")
	}
	if p.peek() != '[' {
		return nil, p.unexpected("a list in [brackets]")
	}
	p.i++
	var texts []refract.Text
	for p.peek() != ']' {
		var t refract.Text
		switch c := p.peek(); {
		case c == '\'' || c == '"':
			s, err := p.str(c)
			if err != nil {
				return nil, err
			}
			t = refract.NewText(s)
		case strings.HasPrefix(p.s[p.i:], "None"):
			p.i += len("None")
		default:
			return nil, p.unexpected("a string in quotes or None")
		}
		texts = append(texts, t)
		end := p.i
		switch c := p.peek(); {
		case c == ',':
			p.i++
		case c == ']', p.gaps && c != 0 && p.i > end:
		default:
			return nil, p.unexpected("',' or ']'")
		}
	}
	p.i++
	if p.peek(); p.i < len(p.s) {
		return nil, p.unexpected("the end of the line")
	}
	return texts, nil
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *pyList) peek() byte {
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case ' ', '\t', '\f', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (p *pyList) fail(at int, format string, args ...any) error {
	return failAt(p.pos, at+1, "bad Python list: "+format, args...)
}

func (p *pyList) unexpected(want string) error {
	if p.i >= len(p.s) {
		return p.fail(p.i, "the line ends where %s should be", want)
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.i:])
	return p.fail(p.i, "%q where %s should be", r, want)
}

// str reads a string that begins with the given quote.
func (p *pyList) str(quote byte) (string, error) {
	open := p.i
	start := open + 1
	end := strings.IndexAny(p.s[start:], string(rune(quote))+`\`)
	if end >= 0 && p.s[start+end] == quote {
		p.i = start + end + 1
		return p.s[start : start+end], nil
	}
	var out []byte
	for rest := p.s[start:]; rest != ""; {
		var r rune
		var err error
		at := len(p.s) - len(rest)
		switch c := rest[0]; {
		case c == quote:
			p.i = at + 1
			return string(out), nil
		case c == '\\' && len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"'):
			r, rest = rune(rest[1]), rest[2:]
		case c == '\\': // Go has Python's escapes, except short octal numbers, which repr never writes
			if r, _, rest, err = strconv.UnquoteChar(rest, 0); err != nil {
				return "", p.fail(at, "the escape is unknown, cut off or no valid character; write a backslash as \\\\")
			}
		default:
			out, rest = append(out, c), rest[1:]
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return "", p.fail(open, "the string is not closed")
}

// AppendPythonList appends a Python list literal of strings, on one line, with None for a
// missing text: a line of Div-Ref's format. Quotes are chosen as repr does. Characters that
// do not print, or that end a line for some reader, are escaped.
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
			b = fmt.Appendf(b, `\x%02x`, r)
		case r == '\u2028', r == '\u2029', r == '\ufeff':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, quote)
}

package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
)

// delimitedEncoder writes CSV or TSV: a header line, then a line per row.
type delimitedEncoder struct {
	columns     []Column
	separator   byte
	text        func(dst []byte, s string) []byte
	missingText string // a missing string
	above       []encoded
}

// encoded remembers how the last string of a column was written, because names and
// signatures repeat over many rows.
type encoded struct {
	text  string
	bytes []byte
}

// append writes s, and calls encode only if s differs from the row above.
func (e *encoded) append(dst []byte, s string, encode func(dst []byte, s string) []byte) []byte {
	if s != e.text || len(e.bytes) == 0 {
		e.text, e.bytes = s, encode(e.bytes[:0], s)
	}
	return append(dst, e.bytes...)
}

func (e *delimitedEncoder) begin(dst []byte) []byte {
	e.above = make([]encoded, len(e.columns))
	for i, c := range e.columns {
		if i > 0 {
			dst = append(dst, e.separator)
		}
		dst = e.text(dst, c.Name)
	}
	return append(dst, '\n')
}

func (e *delimitedEncoder) row(dst []byte, _ int, values []Value) []byte {
	for i := range values {
		if i > 0 {
			dst = append(dst, e.separator)
		}
		switch v := &values[i]; {
		case !v.present:
			dst = e.appendMissing(dst, e.columns[i].Kind)
		case v.kind == KindInt:
			dst = strconv.AppendInt(dst, int64(v.integer), 10)
		case v.kind == KindFloat:
			dst = appendFloat(dst, v.low)
		case v.kind == KindInterval:
			dst = appendFloat(dst, v.low)
			dst = append(dst, ".."...)
			dst = appendFloat(dst, v.high)
		default:
			dst = e.above[i].append(dst, v.text, e.text)
		}
	}
	return append(dst, '\n')
}

// appendMissing appends nothing, unless the line would be empty: readers skip empty lines,
// and would lose the row.
func (e *delimitedEncoder) appendMissing(dst []byte, kind Kind) []byte {
	switch single := len(e.columns) == 1; {
	case single && e.missingText == "":
		return append(dst, `""`...)
	case single || kind == KindString:
		return append(dst, e.missingText...)
	default:
		return dst
	}
}

func (e *delimitedEncoder) end(dst []byte, _ int) []byte { return dst }

// appendCSVString appends a string as a CSV field. It quotes the empty string,
// which tells it from a missing one, and semicolons, which spreadsheets take for separators
// in some locales.
func appendCSVString(dst []byte, s string) []byte {
	s = withoutControls(validUTF8(s))
	formula := text.StartsFormula(s)
	quote := s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || strings.ContainsAny(s, ",;\"\r\n")
	if quote {
		dst = append(dst, '"')
	}
	if formula {
		dst = append(dst, '\'')
	}
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			break
		}
		dst = append(dst, s[:i]...)
		dst = append(dst, '"', '"')
		s = s[i+1:]
	}
	dst = append(dst, s...)
	if quote {
		dst = append(dst, '"')
	}
	return dst
}

// appendTSVString appends a string as a TSV field.
func appendTSVString(dst []byte, s string) []byte {
	s = validUTF8(s)
	if text.StartsFormula(s) {
		dst = append(dst, '\'')
	}
	return append(dst, withoutControls(tsvEscapes.Replace(s))...)
}

var tsvEscapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)

// withoutControls writes control characters and direction controls as \x1b or \u202e. A
// quoted field of CSV keeps its line ends and tabs.
func withoutControls(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isControl(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isControl(r rune) bool {
	return (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && r != '\t' && r != '\n' && r != '\r'
}

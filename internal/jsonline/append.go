package jsonline

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// AppendString appends s as a JSON string. It also escapes characters that are
// invisible when printed, so that people see what the output contains, and U+2028 and
// U+2029, which break readers that evaluate JSON as JavaScript. Bytes that are not
// UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of the bytes not yet appended
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		invalid := c == utf8.RuneError && size == 1
		if !invalid && c != '"' && c != '\\' && !text.Hidden(c) {
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch {
		case invalid:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			dst = AppendEscape(AppendEscape(dst, high), low)
		default:
			dst = AppendEscape(dst, c)
		}
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// Escape returns JSON with the escapes of AppendString for characters that are invisible
// when printed, for outputs of other encoders.
func Escape(b []byte) []byte {
	if !bytes.ContainsFunc(b, hiddenInString) {
		return b
	}
	var out []byte
	for _, c := range string(b) {
		switch {
		case !hiddenInString(c):
			out = utf8.AppendRune(out, c)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = AppendEscape(AppendEscape(out, high), low)
		default:
			out = AppendEscape(out, c)
		}
	}
	return out
}

// Escaping is the writer of an encoder of JSON that calls Write once for each value. It writes
// what Escape returns.
type Escaping struct{ To io.Writer }

// Write implements [io.Writer].
func (e Escaping) Write(b []byte) (int, error) {
	if _, err := e.To.Write(Escape(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// hiddenInString reports whether c is invisible, and so stands in a string: JSON has no
// such character between values but line ends and tabs.
func hiddenInString(c rune) bool { return c > '~' && text.Hidden(c) }

// AppendEscape appends a UTF-16 code unit as \uXXXX.
func AppendEscape(dst []byte, unit rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[unit>>12&15], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
}

// AppendFloat appends the shortest number that parses back to f, as encoding/json
// writes it. f must be finite.
func AppendFloat(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is e-9
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}

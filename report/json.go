package report

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonEncoder writes one object a line, inside brackets for an array.
type jsonEncoder struct {
	keys  []string // `{"first":`, `,"second":`, …
	array bool
	above []encoded
}

func jsonKeys(columns []Column) []string {
	keys := make([]string, len(columns))
	for i, c := range columns {
		key := []byte{','}
		if i == 0 {
			key[0] = '{'
		}
		keys[i] = string(append(appendJSONString(key, c.Name), ':'))
	}
	return keys
}

func (e *jsonEncoder) begin(dst []byte) []byte {
	e.above = make([]encoded, len(e.keys))
	if e.array {
		return append(dst, '[')
	}
	return dst
}

func (e *jsonEncoder) row(dst []byte, index int, values []Value) []byte {
	if e.array {
		if index > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '\n')
	}
	for i := range values {
		dst = append(dst, e.keys[i]...)
		if v := &values[i]; v.present && v.kind == KindString {
			dst = e.above[i].append(dst, v.text, appendJSONString)
		} else {
			dst = appendJSONNumber(dst, v)
		}
	}
	dst = append(dst, '}')
	if !e.array {
		dst = append(dst, '\n')
	}
	return dst
}

func (e *jsonEncoder) end(dst []byte, rows int) []byte {
	switch {
	case !e.array:
		return dst
	case rows == 0:
		return append(dst, "]\n"...)
	default:
		return append(dst, "\n]\n"...)
	}
}

// appendJSONNumber appends a value that is no string, or a missing one.
func appendJSONNumber(dst []byte, v *Value) []byte {
	// Infinities have no JSON form; half an interval would not be one either.
	if !v.present || math.IsInf(v.low, 0) || math.IsInf(v.high, 0) {
		return append(dst, "null"...)
	}
	switch v.kind {
	case KindInt:
		return strconv.AppendInt(dst, int64(v.integer), 10)
	case KindFloat:
		return appendFloat(dst, v.low)
	default:
		dst = appendFloat(append(dst, '['), v.low)
		dst = appendFloat(append(dst, ','), v.high)
		return append(dst, ']')
	}
}

const hexDigits = "0123456789abcdef"

// appendJSONString appends s as a JSON string (RFC 8259, section 7). Hidden
// characters are escaped, though JSON would allow most of them bare: output
// that is looked at shows what it holds, and U+2028 and U+2029 break readers
// that take JSON for JavaScript.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of the text that is not yet appended
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = appendUTF16Escape(dst, rune(c))
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		invalid := r == utf8.RuneError && size == 1
		if !invalid && !hidden(r) {
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch {
		case invalid:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendUTF16Escape(appendUTF16Escape(dst, high), low)
		default:
			dst = appendUTF16Escape(dst, r)
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendUTF16Escape(dst []byte, unit rune) []byte {
	return append(dst, '\\', 'u',
		hexDigits[unit>>12&0xf], hexDigits[unit>>8&0xf], hexDigits[unit>>4&0xf], hexDigits[unit&0xf])
}

package report

import (
	"math"
	"strconv"

	"github.com/refract-eval/refract/internal/jsonline"
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
		keys[i] = string(append(jsonline.AppendString(key, c.Name), ':'))
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
			dst = e.above[i].append(dst, v.text, jsonline.AppendString)
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

// appendJSONNumber appends a number, an interval or null.
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

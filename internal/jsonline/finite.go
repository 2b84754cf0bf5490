package jsonline

import (
	"bytes"

	"github.com/refract-eval/refract/internal/text"
)

var notFinite = text.Regexp(`(?s)"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// Finite returns JSON with null for NaN, Infinity and -Infinity, which no JSON has and Python writes.
func Finite(b []byte) []byte {
	if !bytes.Contains(b, []byte("NaN")) && !bytes.Contains(b, []byte("Infinity")) {
		return b
	}
	return notFinite().ReplaceAllFunc(b, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("null")
	})
}

// Package rawtext has texts as the bytes of a tensor, as the Open Inference Protocol
// has them: each with its length before it, in four bytes, little-endian.
package rawtext

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// Append appends texts.
func Append(b []byte, texts []string) []byte {
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	return b
}

// Parse reads texts, which have to be valid UTF-8.
func Parse(b []byte) (texts []string, err error) {
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errors.New("the bytes of a text are cut")
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		text := string(b[4:end])
		if !utf8.ValidString(text) {
			return nil, errors.New("a text is not valid UTF-8")
		}
		texts, b = append(texts, text), b[end:]
	}
	return texts, nil
}

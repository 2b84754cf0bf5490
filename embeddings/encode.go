package embeddings

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// encode writes a vector as text: the base64 (RFC 4648, padded) of its numbers as
// little-endian float32, the form that servers send, too.
func encode(v []float32) string {
	b, _ := binary.Append(nil, binary.LittleEndian, v) // never fails for numbers
	return base64.StdEncoding.EncodeToString(b)
}

// decode reads what encode wrote, exactly.
func decode(s string) ([]float32, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err == nil && strings.ContainsAny(s, "\r\n") { // the base64 decoder skips them
		err = errors.New("a line break")
	}
	if err != nil {
		return nil, fmt.Errorf("no vector in base64: %w", err)
	}
	if len(b) == 0 || len(b)%4 != 0 {
		return nil, fmt.Errorf("no vector of float32: %d bytes", len(b))
	}
	v := make([]float32, len(b)/4)
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		return nil, fmt.Errorf("no vector of float32: %w", err)
	}
	for _, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, errors.New("a vector with a number that is not finite")
		}
	}
	return v, nil
}

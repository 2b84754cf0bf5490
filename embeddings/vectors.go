package embeddings

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrVector is wrapped by every error about a vector that cannot be compared: one of
// another length, of only zeros, or with a number that is not finite.
var ErrVector = errors.New("vectors cannot be compared")

// Distances returns the cosine distances between all vectors as an n × n matrix,
// row-major: symmetric, with zeros on the diagonal. A distance is 1 minus the cosine of
// the angle between two vectors, in [0, 2], computed in float64. If lengths differ, a
// vector is empty or all zeros, or a number is not finite, the error names the vector
// and wraps ErrVector.
func Distances(vectors [][]float32) ([]float64, error) {
	out, err := Cosines(vectors, vectors)
	for i := range out {
		if out[i] = 1 - out[i]; i%(len(vectors)+1) == 0 {
			out[i] = 0
		}
	}
	return out, err
}

// Cosines returns the cosines of the angles between rows and columns as a
// len(rows) × len(columns) matrix, row-major: each in [-1, 1], computed in float64.
// Errors are as for Distances; vectors are numbered through rows, then columns.
func Cosines(rows, columns [][]float32) ([]float64, error) {
	norms, err := lengths(slices.Concat(rows, columns))
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, len(rows)*len(columns))
	for i, row := range rows {
		for j, column := range columns {
			out = append(out, cosine(row, column, norms[i], norms[len(rows)+j]))
		}
	}
	return out, nil
}

// lengths returns the Euclidean lengths of the vectors, or an error if they cannot be
// compared.
func lengths(vectors [][]float32) ([]float64, error) {
	norms := make([]float64, len(vectors))
	for i, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("%w: vector %d has %d dimensions and vector 0 has %d; use one model for all texts", ErrVector, i, len(v), len(vectors[0]))
		}
		var err error
		if norms[i], err = norm(v); err != nil {
			return nil, fmt.Errorf("vector %d: %w", i, err)
		}
	}
	return norms, nil
}

// norm returns the Euclidean length. Squares of float32 numbers are finite in float64.
func norm(v []float32) (float64, error) {
	var sum float64
	for i, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, fmt.Errorf("%w: dimension %d is %v", ErrVector, i, x)
		}
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 {
		return 0, fmt.Errorf("%w: all %d dimensions are 0", ErrVector, len(v))
	}
	return math.Sqrt(sum), nil
}

// cosine clamps its result, because rounding can push the quotient beyond 1.
func cosine(a, b []float32, na, nb float64) float64 {
	var dot float64
	for i := range a {
		dot += float64(float64(a[i]) * float64(b[i]))
	}
	return max(-1, min(1, dot/(na*nb)))
}

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

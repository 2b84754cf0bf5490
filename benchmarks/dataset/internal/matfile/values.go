package matfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the text of a Char of one row. A cell array of one element
// stands for that element, as texts are often wrapped.
func (a *Array) Text() (string, error) {
	a, err := a.unwrap()
	if err != nil {
		return "", err
	}
	if a.Len() == 0 && (a.Class == Char || a.Class == Double) {
		return "", nil
	}
	if a.Class != Char {
		return "", fmt.Errorf("want a text, not %s", a.kind())
	}
	if len(a.Dims) != 2 || a.Dims[0] != 1 {
		return "", fmt.Errorf("want a text of one row, not of size %v", a.Dims)
	}
	e, _, err := next(a.body, a.order)
	if err != nil {
		return "", err
	}
	switch e.kind {
	case miUTF8:
		if !utf8.Valid(e.data) {
			return "", errors.New("a text is not UTF-8")
		}
		return string(e.data), nil
	case miInt8, miUint8: // one byte a character
		r := make([]rune, len(e.data))
		for i, c := range e.data {
			r[i] = rune(c)
		}
		return string(r), nil
	case miUint16, miUTF16:
		r := utf16.Decode(decode[uint16](e.data, a.order))
		if i := slices.Index(r, utf8.RuneError); i >= 0 {
			return "", fmt.Errorf("character %d of a text is lost (a lone surrogate or U+FFFD)", i+1)
		}
		return string(r), nil
	case miUint32, miUTF32:
		r := decode[rune](e.data, a.order)
		if i := slices.IndexFunc(r, func(c rune) bool { return !utf8.ValidRune(c) }); i >= 0 {
			return "", fmt.Errorf("character %d of a text is none", i+1)
		}
		return string(r), nil
	}
	return "", fmt.Errorf("a text of the type %d, which is not read", e.kind)
}

// decode returns the whole numbers or floats that fit into b.
func decode[T number](b []byte, order binary.ByteOrder) []T {
	var one T
	out := make([]T, len(b)/binary.Size(one))
	binary.Decode(b, order, out) // cannot fail: out fits
	return out
}

type number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

func floats[T number](b []byte, order binary.ByteOrder) []float64 {
	var out []float64
	for _, v := range decode[T](b, order) {
		out = append(out, float64(v))
	}
	return out
}

// numberTypes decode the data of the types of numbers.
var numberTypes = map[uint32]func([]byte, binary.ByteOrder) []float64{
	miInt8: floats[int8], miUint8: floats[uint8], miInt16: floats[int16], miUint16: floats[uint16], miInt32: floats[int32], miUint32: floats[uint32],
	miInt64: floats[int64], miUint64: floats[uint64], miSingle: floats[float32], miDouble: floats[float64],
}

// unwrap returns the element of a cell array of one element.
func (a *Array) unwrap() (_ *Array, err error) {
	for a.Class == Cell && a.Len() == 1 {
		for a, err = range a.Items() {
			if err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// Numbers returns the numbers of an array, by columns.
func (a *Array) Numbers() ([]float64, error) {
	a, err := a.unwrap()
	if err != nil {
		return nil, err
	}
	if a.Class < Double {
		return nil, fmt.Errorf("want numbers, not %s", a.kind())
	}
	if a.Len() == 0 {
		return nil, nil
	}
	e, _, err := next(a.body, a.order)
	if err != nil {
		return nil, err
	}
	read, ok := numberTypes[e.kind]
	if !ok {
		return nil, fmt.Errorf("numbers of the type %d, which is not read", e.kind)
	}
	out := read(e.data, a.order)
	if len(out) != a.Len() {
		return nil, errCut
	}
	return out, nil
}

// Number returns the one number of an array.
func (a *Array) Number() (float64, error) {
	n, err := a.Numbers()
	if err == nil && len(n) != 1 {
		err = fmt.Errorf("want one number, not %d", len(n))
	}
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

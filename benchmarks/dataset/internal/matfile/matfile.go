// Package matfile reads MATLAB files of version 5 (MATLAB's -v6 and -v7): the
// numbers, texts, cell and structure arrays in which data sets are released.
// Own code, as the Go libraries for the format read numbers only. The format
// is described in MathWorks' "MAT-File Format".
package matfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
)

// Class is the kind of an array, by its number in the format.
type Class uint8

// The classes that are read; all above Struct, but Char, are numbers.
const (
	Cell       Class = 1
	Struct     Class = 2
	Char       Class = 4
	Double     Class = 6
	Single     Class = 7
	lastNumber Class = 15
)

// Array is a variable, or an element of one. Its values are decoded when they
// are asked for.
type Array struct {
	Name   string // "" for an element
	Class  Class
	Dims   []int
	Fields []string // of a Struct

	order binary.ByteOrder
	body  []byte // the subelements that follow those above
	depth int
}

// Types of the data of an element.
const (
	miInt8       = 1
	miUint8      = 2
	miInt16      = 3
	miUint16     = 4
	miInt32      = 5
	miUint32     = 6
	miSingle     = 7
	miDouble     = 9
	miInt64      = 12
	miUint64     = 13
	miMatrix     = 14
	miCompressed = 15
	miUTF8       = 16
	miUTF16      = 17
	miUTF32      = 18
)

const (
	headerSize = 128
	maxDepth   = 16
	// maxInflated bounds a compressed variable, so that a damaged or hostile
	// file cannot use up the memory.
	maxInflated = 1 << 30
)

var errCut = errors.New("the file is cut off or damaged")

// Variables yields the variables of a file in their order. It ends after the
// first error.
func Variables(file []byte) iter.Seq2[*Array, error] {
	return func(yield func(*Array, error) bool) {
		order, err := readHeader(file)
		if err != nil {
			yield(nil, err)
			return
		}
		for rest := file[headerSize:]; len(rest) > 0; {
			var e element
			if e, rest, err = next(rest, order); err == nil && e.kind == miCompressed {
				if e.data, err = inflate(e.data); err == nil {
					e, _, err = next(e.data, order)
				}
			}
			if err == nil && e.kind != miMatrix {
				err = fmt.Errorf("an element of type %d where a variable should be", e.kind)
			}
			var a *Array
			if err == nil {
				a, err = newArray(e.data, order, 0)
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// Find returns the variable with a name.
func Find(file []byte, name string) (*Array, error) {
	var names []string
	for a, err := range Variables(file) {
		if err != nil {
			return nil, err
		}
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("there is no variable %q; there are %q", name, names)
}

func readHeader(file []byte) (binary.ByteOrder, error) {
	if bytes.HasPrefix(file, []byte("\x89HDF")) || bytes.HasPrefix(file, []byte("MATLAB 7.3")) {
		return nil, errors.New("a MATLAB file of version 7.3 (HDF5); save it with -v7")
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(file) >= headerSize && string(file[126:128]) == "IM":
	case len(file) >= headerSize && string(file[126:128]) == "MI":
		order = binary.BigEndian
	default:
		return nil, errors.New("not a MATLAB file of version 5")
	}
	if v := order.Uint16(file[124:]); v != 0x0100 {
		return nil, fmt.Errorf("a MATLAB file of version %#04x; only version 5 (0x0100) is read", v)
	}
	return order, nil
}

func inflate(b []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, errCut
	}
	out, err := io.ReadAll(io.LimitReader(z, maxInflated+1))
	if err != nil {
		return nil, errCut
	}
	if len(out) > maxInflated {
		return nil, fmt.Errorf("a variable of more than %d bytes", maxInflated)
	}
	return out, nil
}

// element is a tag and its data.
type element struct {
	kind uint32
	data []byte
}

// next reads an element, and skips what fills it up to eight bytes.
func next(b []byte, order binary.ByteOrder) (e element, rest []byte, err error) {
	if len(b) < 8 {
		return e, nil, errCut
	}
	first := order.Uint32(b)
	if size := int(first >> 16); size > 0 { // a small element: four bytes of data
		if size > 4 {
			return e, nil, errCut
		}
		return element{first & 0xffff, b[4 : 4+size]}, b[8:], nil
	}
	size := order.Uint32(b[4:])
	if int64(size) > int64(len(b)-8) {
		return e, nil, errCut
	}
	e = element{first, b[8 : 8+size]}
	end := 8 + int(size)
	if e.kind != miCompressed {
		end = min((end+7)&^7, len(b))
	}
	return e, b[end:], nil
}

// need is next for an element of a kind with so many bytes at least.
func need(b []byte, order binary.ByteOrder, kind uint32, least int) (data, rest []byte, err error) {
	e, rest, err := next(b, order)
	if err != nil || e.kind != kind || len(e.data) < least {
		return nil, nil, errCut
	}
	return e.data, rest, nil
}

func newArray(b []byte, order binary.ByteOrder, depth int) (*Array, error) {
	a := &Array{order: order, depth: depth}
	if len(b) == 0 {
		a.Class, a.Dims = Double, []int{0, 0} // an empty matrix
		return a, nil
	}
	if depth > maxDepth {
		return nil, errors.New("the arrays are nested too deep")
	}
	flags, b, err := need(b, order, miUint32, 8)
	if err != nil {
		return nil, err
	}
	word := order.Uint32(flags)
	a.Class = Class(word & 0xff)
	dims, b, err := need(b, order, miInt32, 8)
	if err != nil {
		return nil, err
	}
	for _, n := range decode[int32](dims, order) {
		if n < 0 {
			return nil, errCut
		}
		a.Dims = append(a.Dims, int(n))
	}
	name, b, err := next(b, order)
	if err != nil {
		return nil, errCut
	}
	a.Name, a.body = string(name.data), b
	switch {
	case word&0x0800 != 0:
		return nil, fmt.Errorf("variable %q holds complex numbers, which are not read", a.Name)
	case a.Class == Struct:
		if err := a.readFields(); err != nil {
			return nil, err
		}
		return a, nil
	case a.Class == Cell, a.Class == Char, Double <= a.Class && a.Class <= lastNumber:
		return a, nil
	}
	return nil, fmt.Errorf("variable %q is of class %d (an object, a function or a sparse matrix), which is not read", a.Name, a.Class)
}

func (a *Array) readFields() error {
	length, b, err := need(a.body, a.order, miInt32, 4)
	if err != nil {
		return err
	}
	n := int(int32(a.order.Uint32(length)))
	names, b, err := next(b, a.order)
	if err != nil || n <= 0 || len(names.data)%n != 0 {
		return errCut
	}
	for i := 0; i < len(names.data); i += n {
		name, _, _ := strings.Cut(string(names.data[i:i+n]), "\x00")
		a.Fields = append(a.Fields, name)
	}
	a.body = b
	return nil
}

// Len is the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Dims {
		if d != 0 && n > math.MaxInt32/d {
			return math.MaxInt32 // more than any file holds
		}
		n *= d
	}
	return n
}

// Items yields the elements of a Cell, by columns. Of a Struct it yields the
// fields of the first element in their order, then those of the second, and so
// on.
func (a *Array) Items() iter.Seq2[*Array, error] {
	return func(yield func(*Array, error) bool) {
		n := a.Len()
		switch a.Class {
		case Cell:
		case Struct:
			n *= len(a.Fields)
		default:
			yield(nil, fmt.Errorf("want a cell or structure array, not %s", a.kind()))
			return
		}
		b := a.body
		for range n {
			data, rest, err := need(b, a.order, miMatrix, 0)
			var item *Array
			if err == nil {
				item, err = newArray(data, a.order, a.depth+1)
			}
			if !yield(item, err) || err != nil {
				return
			}
			b = rest
		}
	}
}

func (a *Array) kind() string {
	switch a.Class {
	case Cell:
		return "a cell array"
	case Struct:
		return "a structure array"
	case Char:
		return "a text"
	}
	return "numbers"
}

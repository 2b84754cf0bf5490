package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/text"
)

// objects reads JSON objects that do not stand on a line each: the elements of an array, as
// json.dump and pandas write them, or of an array in an object, such as {"data": […]}; or
// objects over several lines, as jq writes them. It holds one object at a time.
type objects struct {
	*jsontext.Decoder
	in    *bounded
	other string // a field of the object around the array that has objects, too
}

// wrappers are the names under which an object has the array of all rows.
var wrappers = []string{"data", "rows", "records", "examples", "instances", "samples"}

// openObjects returns nil for a file with an object a line. It decides by what r has read so
// far, so that it does not wait for a slow pipe.
func openObjects(r *bufio.Reader) *objects {
	begin, _ := r.Peek(r.Buffered())
	mark := len(begin)
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	mark -= len(begin)
	first, rest, _ := bytes.Cut(begin, []byte("\n"))
	if bytes.HasPrefix(first, []byte("{")) && len(bytes.TrimSpace(rest)) > 0 && jsontext.Value(first).IsValid() {
		return nil
	}
	inArray := newObjects(bytes.NewReader(begin)).enter()
	if !inArray && string(bytes.TrimSpace(first)) != "{" {
		return nil
	}
	r.Discard(mark)
	o := newObjects(r)
	if inArray {
		o.enter()
	}
	return o
}

func newObjects(r io.Reader) *objects {
	in := &bounded{r, maxLine}
	// Whoever decodes an object checks its texts and names.
	return &objects{Decoder: jsontext.NewDecoder(in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)), in: in}
}

// enter goes to the first object of an array, if the content is one or has one.
func (o *objects) enter() bool {
	wrapped := o.PeekKind() == '{'
	for at := false; wrapped && !at; {
		if o.StackDepth() == 0 {
			o.ReadToken()
		}
		name, err := o.ReadToken()
		if err != nil || name.Kind() != '"' {
			return false
		}
		if at = slices.Contains(wrappers, name.String()) && o.PeekKind() == '['; !at && o.skip(name.String()) != nil {
			return false
		}
	}
	if o.PeekKind() != '[' {
		return false
	}
	o.ReadToken()
	return !wrapped || o.PeekKind() == '{'
}

// skip passes over the value of a field beside the array, and notes whether it has objects.
func (o *objects) skip(name string) error {
	v, err := o.ReadValue()
	if v.Kind() == '[' && bytes.HasPrefix(bytes.TrimLeft(v[1:], " \t\r\n"), []byte("{")) {
		o.other = name
	}
	return err
}

// next returns an object, or io.EOF after the last. The bytes are valid until the following
// call.
func (o *objects) next() ([]byte, error) {
	o.in.left = maxLine
	if o.PeekKind() != ']' {
		return o.ReadValue()
	}
	for o.StackDepth() > 0 { // what follows the array
		name, err := o.ReadToken()
		if err == nil && name.Kind() == '"' {
			err = o.skip(name.String())
		}
		if err != nil {
			return nil, err
		}
	}
	if o.other != "" {
		return nil, fmt.Errorf("field %s has objects beside those of the array: put all into one array, or each into a file of its own", text.Quote(o.other))
	}
	_, err := o.ReadToken()
	if err == nil {
		err = errors.New("there is more after the array")
	}
	return nil, err
}

// errTooLong says that an object has more than maxLine bytes.
var errTooLong = errors.New("the object is too long")

// bounded is a reader with a bound on what is read for one object.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.Reader.Read(p)
	b.left -= n
	return n, err
}

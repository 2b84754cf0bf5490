// Package jsonline reads and writes JSON where every fault counts: unknown and
// repeated fields, invalid UTF-8 and lone surrogates are errors, which name a
// byte and the path of a field. It stands on jsontext.
package jsonline

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/text"
)

// Reader reads one value of JSON from left to right: a line, or a file. Each
// method reads a value of one kind, and another kind is an [Error]. After an
// error a Reader must be Reset. The zero Reader, once Reset, reads lines.
type Reader struct {
	bytes []byte
	whole string // bytes, made when it is needed
	buf   bytes.Buffer
	dec   jsontext.Decoder
	plain []byte   // the last string that had escapes, without them
	names [][]byte // of the objects that are being read
	name  int      // where the last name begins
}

// NewReader returns a Reader of a line.
func NewReader(line []byte) *Reader {
	r := &Reader{}
	r.Reset(line)
	return r
}

// Reset makes r read b.
func (r *Reader) Reset(b []byte) {
	r.bytes, r.whole, r.names = b, "", r.names[:0]
	r.buf = *bytes.NewBuffer(b)
	r.dec.Reset(&r.buf, anyNames)
}

// anyNames leaves repeated names to Object and Members, which are faster.
var anyNames = jsontext.AllowDuplicateNames(true)

// Kind is the kind of a value. It is 0 where there is none: the next method
// that reads returns that error.
type Kind = jsontext.Kind

// The kinds of values.
const (
	Null   Kind = 'n'
	False  Kind = 'f'
	True   Kind = 't'
	String Kind = '"'
	Number Kind = '0'
	Object Kind = '{'
	Array  Kind = '['
)

// Kind returns the kind of the value that follows, by its first byte. What is
// there, and what stands before it, the next method that reads checks.
func (r *Reader) Kind() Kind {
	if at := r.Offset(); at < len(r.bytes) {
		return kindOf(r.bytes[at])
	}
	return 0
}

func kindOf(c byte) Kind {
	switch c {
	case 'n', 'f', 't', '"', '{', '[', '}', ']':
		return Kind(c)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return 0
}

// Offset returns the place of the value, or of the name, that follows.
func (r *Reader) Offset() int {
	at := r.last()
	if at >= len(r.bytes) || r.bytes[at] > ',' && r.bytes[at] != ':' {
		return at
	}
	at = r.space(at)
	if at < len(r.bytes) && (r.bytes[at] == ',' || r.bytes[at] == ':') {
		at = r.space(at + 1)
	}
	return at
}

// token reads a bracket, a name, or a value that has no brackets. It returns
// it as it is written, and its place.
func (r *Reader) token() (v []byte, at int, err error) {
	at = r.Offset()
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, at, r.fault(err)
	}
	return r.bytes[at:r.last()], at, nil
}

// Name returns the place of the name that was read last.
func (r *Reader) Name() int { return r.name }

// last returns the end of what was read last.
func (r *Reader) last() int { return int(r.dec.InputOffset()) }

// space returns the place of the first byte from i on that is not white space.
func (r *Reader) space(i int) int {
	for b := r.bytes; i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n'); i++ {
	}
	return i
}

// End checks that nothing but white space is left.
func (r *Reader) End() error {
	if at := r.space(r.last()); at < len(r.bytes) {
		return badJSON(at, "text after the end of the value; write one value a line")
	}
	return nil
}

// Object reads an object of these fields, each at most once. A table of fields
// that stays, as that of a Reader of many lines, costs nothing at each of them.
func (r *Reader) Object(fields ...Field) error {
	if err := r.open(Object, "an object"); err != nil {
		return err
	}
	var seen uint64
	for at := 0; ; at++ { // most objects have their fields in order
		name, more, err := r.next()
		if !more {
			return err
		}
		if at >= len(fields) || fields[at].Name != string(name) {
			if at = slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(name) }); at < 0 {
				return unknown(r.name, string(name), fields)
			}
		}
		f := &fields[at]
		if seen&(1<<at) != 0 {
			return &Error{Offset: r.name, head: "field " + text.Quote(f.Name), before: " of ", tail: " is there twice"}
		}
		seen |= 1 << at
		if f.Seen != nil {
			*f.Seen = true
		}
		if f.Optional {
			err = r.OrNull(f.Read)
		} else {
			err = f.Read()
		}
		if err != nil {
			return inside(err, "."+f.Name)
		}
	}
}

// Whole is Object for one that nothing follows.
func (r *Reader) Whole(fields ...Field) error {
	if err := r.Object(fields...); err != nil {
		return err
	}
	return r.End()
}

// Members reads an object with any names, each at most once. noun is what they
// name, in errors: "field", or "system". read must not keep the name, and reads
// the value.
func (r *Reader) Members(noun string, read func(name []byte) error) error {
	if err := r.open(Object, "an object"); err != nil {
		return err
	}
	const few = 32 // names that are compared one by one
	first := len(r.names)
	var many map[string]bool
	for {
		name, more, err := r.next()
		if !more {
			r.names = r.names[:first]
			return err
		}
		again := many[string(name)]
		for _, n := range r.names[first:] {
			again = again || string(n) == string(name)
		}
		if again {
			twice := noun + " " + text.Quote(string(name)) + " is "
			return &Error{Offset: r.name, head: twice + "twice", root: twice + "there twice", before: " in "}
		}
		switch {
		case len(r.names) < first+few:
			r.names = append(r.names, name)
		case many == nil:
			many = map[string]bool{string(name): true}
		default:
			many[string(name)] = true
		}
		if err := read(name); err == nil {
			continue
		} else if noun == "field" {
			return inside(err, "."+text.Brief(string(name)))
		} else {
			return inside(err, "["+text.Quote(string(name))+"]")
		}
	}
}

// next reads a name, or the end of an object.
func (r *Reader) next() (name []byte, more bool, err error) {
	v, at, err := r.token()
	if err != nil || v[0] == '}' {
		return nil, false, err
	}
	r.name = at
	if name = r.unquote(v); len(name) != len(v)-2 { // it has escapes
		name = bytes.Clone(name)
	}
	return name, true, nil
}

// unquote returns what a string holds.
func (r *Reader) unquote(v []byte) []byte {
	s := v[1 : len(v)-1]
	if bytes.IndexByte(s, '\\') >= 0 {
		r.plain, _ = jsontext.AppendUnquote(r.plain[:0], v)
		return r.plain
	}
	return s
}

// Elements reads an array. read is called with each index, to read the value.
func (r *Reader) Elements(read func(i int) error) error {
	if err := r.open(Array, "an array"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if r.Kind() == ']' {
			_, _, err := r.token()
			return err
		}
		if err := read(i); err != nil {
			return inside(err, "["+strconv.Itoa(i)+"]")
		}
	}
}

// open reads the bracket that begins an object or an array.
func (r *Reader) open(kind Kind, want string) error {
	_, err := r.value(want, kind)
	return err
}

// value reads a value of one of the kinds, or its first bracket.
func (r *Reader) value(want string, kinds ...Kind) ([]byte, error) {
	v, at, err := r.token()
	if err != nil {
		return nil, err
	}
	kind := kindOf(v[0])
	for _, k := range kinds {
		if k == kind {
			return v, nil
		}
	}
	return nil, r.unwanted(at, want, v[0])
}

// Null reads a null, if one follows.
func (r *Reader) Null() (bool, error) {
	if r.Kind() != Null {
		return false, nil
	}
	_, _, err := r.token()
	return err == nil, err
}

// OrNull calls read, unless null follows, which stands for an empty value.
func (r *Reader) OrNull(read func() error) error {
	if null, err := r.Null(); null || err != nil {
		return err
	}
	return read()
}

// Bytes reads a string. They are valid until the next string is read.
func (r *Reader) Bytes() ([]byte, error) {
	v, err := r.value("a string", String)
	if err != nil {
		return nil, err
	}
	return r.unquote(v), nil
}

// String reads a string. It may keep the memory of all that r reads.
func (r *Reader) String() (string, error) {
	v, err := r.value("a string", String)
	if err != nil {
		return "", err
	}
	return r.keep(v), nil
}

// OptionalBytes is Bytes for a value that may be null, which is nil.
func (r *Reader) OptionalBytes() ([]byte, error) {
	v, err := r.optional()
	if v == nil {
		return nil, err
	}
	return r.unquote(v), nil
}

// OptionalString is String for a value that may be null, which is not ok.
func (r *Reader) OptionalString() (s string, ok bool, err error) {
	v, err := r.optional()
	if v == nil {
		return "", false, err
	}
	return r.keep(v), true, nil
}

// StringOrEmpty is String for a value that may be null, which is "".
func (r *Reader) StringOrEmpty() (string, error) {
	s, _, err := r.OptionalString()
	return s, err
}

// optional reads a string, or null as nil.
func (r *Reader) optional() ([]byte, error) {
	v, err := r.value("a string or null", String, Null)
	if err != nil || v[0] == 'n' {
		return nil, err
	}
	return v, nil
}

// keep returns what a string holds that was read last.
func (r *Reader) keep(v []byte) string {
	s := r.unquote(v)
	if len(s) != len(v)-2 { // it had escapes
		return string(s)
	}
	if r.whole == "" {
		r.whole = string(r.bytes)
	}
	end := r.last() - 1
	return r.whole[end-len(s) : end]
}

// ID reads a string, or a number as it is written. It is valid until the next
// string is read.
func (r *Reader) ID() ([]byte, error) {
	v, err := r.value("a string or a number", String, Number)
	if err != nil || v[0] != '"' {
		return v, err
	}
	return r.unquote(v), nil
}

// OptionalFloat reads a number, or null as none.
func (r *Reader) OptionalFloat() (value float64, ok bool, err error) {
	const want = "a number or null"
	v, err := r.value(want, Number, Null)
	if err != nil || v[0] == 'n' {
		return 0, false, err
	}
	if value, err = strconv.ParseFloat(string(v), 64); err != nil {
		return 0, false, Unwanted(r.last()-len(v), want, "one that is out of range")
	}
	return value, true, nil
}

// Index reads a whole number that is not negative.
func (r *Reader) Index() (int, error) {
	const want = "an integer from 0"
	v, err := r.value(want, Number)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 0 {
		return 0, Unwanted(r.last()-len(v), want, text.Brief(string(v)))
	}
	return n, nil
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) {
	v, err := r.value("true or false", True, False)
	return err == nil && v[0] == 't', err
}

// maxDepth bounds how deep values that are only passed on may be nested.
const maxDepth = 32

// Skip reads a value of any kind.
func (r *Reader) Skip() error {
	_, err := r.Raw()
	return err
}

// RawObject reads an object, as it is written. It is valid as long as what r
// reads.
func (r *Reader) RawObject() ([]byte, error) {
	if r.Kind() != Object {
		return nil, r.open(Object, "an object")
	}
	return r.Raw()
}

// Raw reads a value of any kind, as it is written. It is valid as long as what
// r reads.
func (r *Reader) Raw() ([]byte, error) {
	start, base := r.Offset(), r.dec.StackDepth()
	for {
		if _, _, err := r.token(); err != nil {
			return nil, err
		}
		switch depth := r.dec.StackDepth() - base; {
		case depth == 0:
			return r.bytes[start:r.last()], nil
		case depth > maxDepth:
			return nil, badJSON(r.last()-1, "the values are nested too deep")
		}
	}
}

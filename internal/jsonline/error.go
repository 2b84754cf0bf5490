package jsonline

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// Error is a fault of JSON, or of what it holds.
type Error struct {
	Offset int // of the byte at fault, from 0

	path string // of the field at fault, or of the object that has it, in steps such as .human["mqm"][3]
	// The message is head and tail, with the path between before and after,
	// where there is one; root is the head where there is none.
	head, root, before, after, tail string

	got   string // what is there in place of what is wanted
	whole bool   // the message needs no path
}

// Error returns the message, without the place.
func (e *Error) Error() string {
	switch {
	case e.path != "":
		return e.head + e.before + strings.TrimPrefix(e.path, ".") + e.after + e.tail
	case e.root != "":
		return e.root + e.tail
	}
	return e.head + e.tail
}

// Got returns what the whole value is, such as "a number", in an error that
// says that it is of the wrong kind; in other errors it is "".
func (e *Error) Got() string {
	if e.path != "" {
		return ""
	}
	return e.got
}

// Foreign reports whether the JSON is well-formed, but not of the fields and
// kinds that are wanted, as that of a file of another sort.
func (e *Error) Foreign() bool { return !e.whole }

// unwanted is Unwanted for a value that begins with c.
func (r *Reader) unwanted(at int, want string, c byte) error {
	got := map[Kind]string{
		String: "a string", Object: "an object", Array: "an array", Number: "a number", True: "a boolean", False: "a boolean", Null: "null",
	}[kindOf(c)]
	if got == "" {
		return badJSON(at, "%q where a value should be", c)
	}
	return Unwanted(at, want, got)
}

// Unwanted returns the error that the value at an offset is not what is wanted.
func Unwanted(at int, want, got string) error {
	return &Error{Offset: at, head: "field ", root: "the value", tail: " must be " + want + ", not " + got, got: got}
}

// Lacks returns the error that the value that was read last has no such field.
func (r *Reader) Lacks(field string) error {
	return &Error{Offset: r.last() - 1, root: "the value", tail: " has no " + field}
}

// unknown is the error of a field that nobody knows.
func unknown(at int, name string, fields []Field) error {
	var known []string
	for _, f := range fields {
		known = append(known, f.Name)
	}
	hint := "; there are no fields"
	if len(known) > 0 {
		hint = "; the fields are " + strings.Join(known, ", ")
	}
	if n := english.Nearest(name, known); n != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", n)
	}
	return &Error{Offset: at, head: "unknown field ", before: "of ", after: ": ", tail: text.Quote(name) + hint}
}

// inside adds a step to the path of an error.
func inside(err error, step string) error {
	if e, ok := err.(*Error); ok && !e.whole {
		e.path = step + e.path
	}
	return err
}

// Fault returns the error that something is wrong at a place.
func Fault(at int, format string, args ...any) error {
	return &Error{Offset: at, head: fmt.Sprintf(format, args...), whole: true}
}

func badJSON(at int, format string, args ...any) error {
	return Fault(at, "bad JSON: "+format, args...)
}

// fault says what the decoder refuses, in its words and at its place.
func (r *Reader) fault(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return badJSON(len(r.bytes), "it ends before its value does")
	case errors.As(err, &syntax):
		return badJSON(int(syntax.ByteOffset), "%v", syntax.Err)
	}
	return badJSON(r.last(), "%v", err)
}

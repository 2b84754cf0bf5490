package jsonline

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/suggest"
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
	if got == "" { // a closing bracket
		return r.unexpected(at, "a value")
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
	if n := suggest.Nearest(name, known); n != "" {
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

func (r *Reader) unexpected(at int, want string) error {
	if at >= len(r.bytes) {
		return badJSON(at, "the %s ends where %s should be", r.unit(), want)
	}
	c, _ := utf8.DecodeRune(r.bytes[at:])
	return badJSON(at, "%q where %s should be", c, want)
}

func (r *Reader) unit() string {
	if r.file {
		return "file"
	}
	return "line"
}

// fault finds what is wrong after what was read last: it looks again at what
// the decoder refuses, and says it in words for the author of the file.
func (r *Reader) fault() error {
	b, i := r.bytes, r.space(r.last())
	isDigit := func(i int) bool { return i >= 0 && i < len(b) && '0' <= b[i] && b[i] <= '9' }
	if isDigit(i) && isDigit(i-1) { // the decoder reads 01 as two numbers
		for i--; isDigit(i-1) || i > 0 && b[i-1] == '-'; i-- {
		}
		return badJSON(i, "malformed number")
	}
	depth := r.dec.StackDepth()
	kind, length := r.dec.StackIndex(depth)
	next := func(c byte) bool { return i < len(b) && b[i] == c }
	switch {
	case depth == 0 && length > 0 && r.file:
		return badJSON(i, "text after the end of the value")
	case depth == 0 && length > 0:
		return badJSON(i, "text after the object; write one object a line")
	case kind == Object && length%2 == 1 && !next(':'):
		return r.unexpected(i, "':'")
	case kind == Object && length%2 == 0 && length > 0 && !next(','):
		return r.unexpected(i, "',' or '}'")
	case kind == Array && length > 0 && !next(','):
		return r.unexpected(i, "',' or ']'")
	}
	if length > 0 {
		i = r.Offset()
	}
	switch {
	case kind == Object && length%2 == 0 && !next('"'):
		return r.unexpected(i, "a key in double quotes")
	case next('"'):
		return r.stringFault(i)
	case next('-') || isDigit(i):
		return badJSON(i, "malformed number")
	}
	return r.unexpected(i, "a value")
}

// stringFault finds what is wrong with the string that begins at i.
func (r *Reader) stringFault(i int) error {
	b := r.bytes
	for i++; i < len(b); {
		c, size := utf8.DecodeRune(b[i:])
		switch {
		case c == '"':
			return badJSON(i, "a string that cannot be read")
		case c < ' ':
			return badJSON(i, "control character %#02x in a string; write it as \\u%04x", c, c)
		case c == utf8.RuneError && size == 1:
			return badJSON(i, "invalid UTF-8; store the %s as UTF-8", r.unit())
		case c == '\\' && i+1 < len(b):
			if strings.IndexByte(`"\/bfnrt`, b[i+1]) >= 0 {
				size = 2
				break
			}
			unit, ok := codeUnit(b[i:])
			if !ok {
				return badJSON(i, "unknown escape in a string")
			}
			if size = 6; utf16.IsSurrogate(unit) {
				low, _ := codeUnit(b[i+6:])
				if utf16.DecodeRune(unit, low) == utf8.RuneError {
					return badJSON(i, "lone surrogate %s, which no text can hold; write a pair of surrogates, or U+FFFD if the text is lost", b[i:i+6])
				}
				size = 12
			}
		}
		i += size
	}
	return badJSON(len(b), "the %s ends within a string", r.unit())
}

// codeUnit reads \uXXXX at the beginning of b.
func codeUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// Package jsonline reads and writes JSON strictly: unknown and repeated fields,
// invalid UTF-8 and lone surrogates are errors. Errors give the offset of the byte
// and the path of the field.
package jsonline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// Error is an error in JSON or in its contents.
type Error struct {
	Offset int // of the bad byte, from 0
	// Foreign says that the JSON is well-formed but has the wrong fields or types, as
	// if it came from a file of another kind.
	Foreign bool
	// Unknown says that a field of the outermost object is unknown; Mistyped says that the
	// field also resembles a known one.
	Unknown, Mistyped bool
	message           string
}

// Error returns the message without the offset.
func (e *Error) Error() string { return e.message }

// Fault returns an Error about a whole value.
func Fault(format string, args ...any) error { return &Error{message: fmt.Sprintf(format, args...)} }

// Strict is the option with which this package reads all JSON.
var Strict = json.RejectUnknownMembers(true)

// Unmarshal reads an object. what names it in errors, such as "a segment".
func Unmarshal(b []byte, v any, what string) error {
	err := json.Unmarshal(b, v, Strict)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Offset: len(b), message: "bad JSON: it ends before its value does"}
	}
	if err == nil && string(bytes.TrimSpace(b)) == "null" {
		return &Error{Foreign: true, message: what + " must be a JSON object, not null"}
	}
	return Explain(err, what)
}

// Explain turns an error of the JSON library into an Error that speaks of JSON, not of Go.
func Explain(err error, what string) error {
	var syntax *jsontext.SyntacticError
	var field *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return &Error{Offset: int(syntax.ByteOffset), Foreign: true, message: "field " + text.Quote(syntax.JSONPointer.LastToken()) + " is there twice"}
	case errors.As(err, &syntax):
		message := "bad JSON: " + syntax.Err.Error()
		if strings.Contains(message, "invalid character 'N'") {
			message += "; JSON has no NaN: write null for a missing value"
		}
		return &Error{Offset: int(syntax.ByteOffset), message: message}
	case !errors.As(err, &field):
		return Fault("%v", err)
	}
	e := &Error{Offset: int(field.ByteOffset), Foreign: true}
	name := pathOf(field.JSONPointer)
	kinds := map[jsontext.Kind]string{'"': "a string", '{': "an object", '[': "an array", '0': "a number", 't': "a boolean", 'f': "a boolean", 'n': "null"}
	switch {
	case errors.Is(err, json.ErrUnknownName):
		var known []string
		for f := range field.GoType.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				known = append(known, name)
			}
		}
		name := field.JSONPointer.LastToken()
		e.message = Unknown(name, known).Error()
		e.Unknown, e.Mistyped = field.JSONPointer.Parent() == "", english.Nearest(name, known) != ""
		if parent := pathOf(field.JSONPointer.Parent()); parent != "" {
			e.message = parent + ": " + e.message
		}
	case field.JSONPointer == "" && field.Err == nil:
		e.message = what + " must be a JSON object, not " + cmp.Or(kinds[field.JSONKind], "this")
	case field.Err != nil && !errors.Is(field.Err, strconv.ErrSyntax) && !errors.Is(field.Err, strconv.ErrRange):
		e.message = "field " + name + " " + field.Err.Error()
	default:
		want := map[reflect.Kind]string{reflect.Int: "an integer from 0", reflect.Int32: "an integer from 0", reflect.Int64: "an integer from 0",
			reflect.Float64: "a number or null", reflect.Slice: "an array", reflect.Map: "an object", reflect.Struct: "an object", reflect.Bool: "true or false"}[field.GoType.Kind()]
		e.message = "field " + name + " must be " + cmp.Or(want, "a string or null")
		if got := kinds[field.JSONKind]; got != "" && field.Err == nil {
			e.message += ", not " + got
		}
	}
	return e
}

// pathOf writes a JSON pointer in the form variants[0].text.
func pathOf(p jsontext.Pointer) string {
	var b strings.Builder
	for step := range p.Tokens() {
		if step == "" {
			b.WriteString(`[""]`)
		} else if strings.Trim(step, "0123456789") == "" {
			b.WriteString("[" + step + "]")
		} else {
			b.WriteString("." + text.Brief(step))
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// Unknown returns the error for an unknown field.
func Unknown(name string, known []string) error {
	hint := "; there are no fields"
	if len(known) > 0 {
		hint = "; the fields are " + strings.Join(known, ", ")
	}
	if n := english.Nearest(name, known); n != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", n)
	}
	return Fault("unknown field %s%s", text.Quote(name), hint)
}

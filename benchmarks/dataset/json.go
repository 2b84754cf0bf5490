package dataset

import (
	"cmp"
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// reader reads texts too.
type reader struct{ *jsonline.Reader }

// placed gives an error of a line its position.
func placed(err error, pos refract.Position) error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case *Error:
		return e
	case *jsonline.Error:
		return &Error{Pos: pos, Column: e.Offset + 1, Err: e}
	}
	return &Error{Pos: pos, Err: err}
}

// jsonFault gives an error of the JSON of a line its position. noun is what the
// line should be.
func jsonFault(err error, pos refract.Position, noun string) error {
	var syntax *jsontext.SyntacticError
	var field *json.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return failAt(pos, int(syntax.ByteOffset)+1, "field %s is there twice", text.Quote(syntax.JSONPointer.LastToken()))
	case errors.As(err, &syntax):
		return failAt(pos, int(syntax.ByteOffset)+1, "bad JSON: %w", syntax.Err)
	case !errors.As(err, &field) || field.JSONPointer == "":
		return failAt(pos, 0, "%s must be a JSON object on one line", noun)
	case errors.Is(err, json.ErrUnknownName):
		var known []string
		for f := range field.GoType.Fields() {
			if name := f.Tag.Get("json"); name != "" {
				known = append(known, name)
			}
		}
		name := field.JSONPointer.LastToken()
		return failAt(pos, int(field.ByteOffset)+1, "unknown field %s%s", text.Quote(name), cmp.Or(didYouMean(name, known), "; the fields are "+strings.Join(known, ", ")))
	}
	path := strings.ReplaceAll(strings.TrimPrefix(string(field.JSONPointer), "/"), "/", ".")
	want := map[reflect.Kind]string{reflect.Float64: "a number or null", reflect.Slice: "an array", reflect.Map: "an object"}[field.GoType.Kind()]
	return failAt(pos, int(field.ByteOffset)+1, "field %s must be %s", path, cmp.Or(want, "a string or null"))
}

// text reads a string, or null as a missing text.
func (r reader) text() (refract.Text, error) {
	s, ok, err := r.OptionalString()
	return refract.Text{Value: s, Valid: ok}, err
}

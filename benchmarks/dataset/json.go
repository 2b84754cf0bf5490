package dataset

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// reader reads texts and ids too.
type reader struct{ *jsonline.Reader }

// scanFields reads an object on a line, and tells which fields it has, of which
// those needed must be there.
func scanFields(line []byte, pos refract.Position, needed []string, of func(r reader) []jsonline.Field) (has map[string]bool, err error) {
	r := reader{jsonline.NewReader(line)}
	fields := of(r)
	seen := make([]bool, len(fields))
	for i := range fields {
		fields[i].Seen = &seen[i]
	}
	err = placed(r.Whole(fields...), pos)
	has = map[string]bool{}
	for i, f := range fields {
		has[f.Name] = seen[i]
	}
	for _, field := range needed {
		if err == nil && !has[field] {
			err = failAt(pos, 0, "the row has no field %q", field)
		}
	}
	return has, err
}

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
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return failAt(pos, int(syntax.ByteOffset)+1, "field %s is there twice", text.Quote(syntax.JSONPointer.LastToken()))
		}
		return failAt(pos, int(syntax.ByteOffset)+1, "bad JSON: %w", syntax.Err)
	}
	return failAt(pos, 0, "%s must be a JSON object on one line", noun)
}

// text reads a string, or null as a missing text.
func (r reader) text() (refract.Text, error) {
	s, ok, err := r.OptionalString()
	return refract.Text{Value: s, Valid: ok}, err
}

// texts reads an array of texts, of which some may be null; null is none.
func (r reader) texts() (all []refract.Text, err error) {
	err = r.OrNull(func() error {
		return r.Elements(func(int) error {
			t, err := r.text()
			all = append(all, t)
			return err
		})
	})
	return all, err
}

// id reads a string that is not empty, or a number, of which the literal text is
// kept.
func (r reader) id() (string, error) {
	at := r.Offset()
	b, err := r.ID()
	if err == nil && len(b) == 0 {
		err = jsonline.Unwanted(at, "a non-empty string or a number", "empty")
	}
	return string(b), err
}

// none reads a value that serves no purpose here.
func (r reader) none(name string) jsonline.Field { return jsonline.With(name, r.Skip) }

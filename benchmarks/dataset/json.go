package dataset

import (
	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
)

// placed adds a position to an error.
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

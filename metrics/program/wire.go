package program

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics/analysis"
)

// fields are the readers of an object's members, by name. A member that is null
// is as one that is not there.
type fields map[string]func() error

// object reads an object of fields, whose names errors list in an order.
func object(r *jsonline.Reader, names []string, of fields) error {
	return r.Fields(names, func(name string) error { return r.OrNull(of[name]) })
}

// whole reads a line that is one value.
func whole(line []byte, read func(r *jsonline.Reader) error) error {
	r := &jsonline.Reader{}
	r.Reset(line)
	err := read(r)
	if err == nil {
		err = r.End()
	}
	if at := (*jsonline.Error)(nil); errors.As(err, &at) && at.Offset < len(line) {
		rest := bytes.TrimPrefix(line[at.Offset:], []byte("-"))
		for _, word := range []string{"NaN", "Infinity"} {
			if bytes.HasPrefix(rest, []byte(word)) {
				return fmt.Errorf("%s is no JSON; give null for a cell that could not be scored", word)
			}
		}
	}
	return err
}

// to reads a value into a place.
func to[T any](place *T, read func() (T, error)) func() error {
	return func() (err error) {
		*place, err = read()
		return err
	}
}

// number reads a number, or nil.
func number(r *jsonline.Reader) func() (*float64, error) {
	return func() (*float64, error) {
		v, ok, err := r.OptionalFloat()
		if !ok {
			return nil, err
		}
		return &v, nil
	}
}

// list reads an array of values, of which null is the zero one.
func list[T any](r *jsonline.Reader, read func() (T, error)) func() ([]T, error) {
	return func() ([]T, error) {
		out := []T{}
		err := r.Elements(func(int) error {
			var v T
			err := r.OrNull(to(&v, read))
			out = append(out, v)
			return err
		})
		return out, err
	}
}

func (h *hello) read(r *jsonline.Reader) error {
	return object(r, []string{"refract", "name", "signature", "needs", "direction", "lower", "upper", "native", "reports", "batch"}, fields{
		"refract": to(&h.Refract, r.Int),
		"name":    to(&h.Name, r.String),
		"signature": func() error {
			h.Signature = map[string]string{}
			return r.Members("key", func(name []byte) error {
				key := string(name)
				v, err := r.String()
				h.Signature[key] = v
				return err
			})
		},
		"needs":     to(&h.Needs, list(r, r.String)),
		"direction": to(&h.Direction, r.String),
		"lower":     to(&h.Lower, number(r)),
		"upper":     to(&h.Upper, number(r)),
		"native":    to(&h.Native, r.Bool),
		"reports":   to(&h.Reports, r.Bool),
		"batch":     to(&h.Batch, r.Int),
	})
}

func (a *answer) read(r *jsonline.Reader) error {
	explained := func() (*explanation, error) {
		e := &explanation{}
		return e, e.read(r)
	}
	return object(r, []string{"id", "scores", "status", "reports", "error"}, fields{
		"id": func() error {
			id, err := r.Int()
			a.ID = &id
			return err
		},
		"scores":  to(&a.Scores, list(r, list(r, number(r)))),
		"status":  to(&a.Status, list(r, list(r, r.String))),
		"reports": to(&a.Reports, list(r, list(r, explained))),
		"error":   to(&a.Error, r.String),
	})
}

func (e *explanation) read(r *jsonline.Reader) error {
	fault := func() (analysis.Error, error) {
		x := analysis.Error{}
		var severity string
		err := object(r, []string{"location", "aspect", "dimension", "severity", "explanation", "penalty"}, fields{
			"location":    to(&x.Location, r.String),
			"aspect":      to(&x.Aspect, r.String),
			"dimension":   to(&x.Dimension, r.String),
			"severity":    to(&severity, r.String),
			"explanation": to(&x.Explanation, r.String),
			"penalty":     to(&x.Penalty, number(r)),
		})
		x.Severity = analysis.Severity(severity)
		return x, err
	}
	return object(r, []string{"errors", "detail", "raw"}, fields{
		"errors": to(&e.Errors, list(r, fault)),
		"detail": to(&e.Detail, r.String),
		"raw": func() error {
			raw, err := r.String()
			e.Raw = &raw
			return err
		},
	})
}

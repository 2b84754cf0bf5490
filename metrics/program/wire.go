package program

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics/analysis"
)

// read reads a line that is one object. A member that is null is as one that is
// not there.
func read(line []byte, fields func(r *jsonline.Reader) []jsonline.Field) error {
	r := jsonline.NewReader(line)
	err := r.Whole(optional(fields(r))...)
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

func optional(fields []jsonline.Field) []jsonline.Field {
	for i := range fields {
		fields[i].Optional = true
	}
	return fields
}

// pointer reads a value, of which there is none before it is read.
func pointer[T any](read func() (T, error)) func() (*T, error) {
	return func() (*T, error) {
		v, err := read()
		return &v, err
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

func (h *hello) fields(r *jsonline.Reader) []jsonline.Field {
	return []jsonline.Field{
		jsonline.To("refract", &h.Refract, r.Int),
		jsonline.To("name", &h.Name, r.String),
		jsonline.With("signature", func() error {
			h.Signature = map[string]string{}
			return r.Members("key", func(name []byte) error {
				key := string(name)
				v, err := r.String()
				h.Signature[key] = v
				return err
			})
		}),
		jsonline.To("needs", &h.Needs, jsonline.List(r, r.String)),
		jsonline.To("direction", &h.Direction, r.String),
		jsonline.To("lower", &h.Lower, number(r)),
		jsonline.To("upper", &h.Upper, number(r)),
		jsonline.To("native", &h.Native, r.Bool),
		jsonline.To("reports", &h.Reports, r.Bool),
		jsonline.To("batch", &h.Batch, r.Int),
	}
}

func (a *answer) fields(r *jsonline.Reader) []jsonline.Field {
	explained := func() (*explanation, error) {
		e := &explanation{}
		return e, r.Object(optional(e.fields(r))...)
	}
	return []jsonline.Field{
		jsonline.To("id", &a.ID, pointer(r.Int)),
		jsonline.To("scores", &a.Scores, jsonline.List(r, jsonline.List(r, number(r)))),
		jsonline.To("status", &a.Status, jsonline.List(r, jsonline.List(r, r.String))),
		jsonline.To("reports", &a.Reports, jsonline.List(r, jsonline.List(r, explained))),
		jsonline.To("error", &a.Error, r.String),
	}
}

func (e *explanation) fields(r *jsonline.Reader) []jsonline.Field {
	fault := func() (analysis.Error, error) {
		x := analysis.Error{}
		var severity string
		err := r.Object(optional([]jsonline.Field{
			jsonline.To("location", &x.Location, r.String),
			jsonline.To("aspect", &x.Aspect, r.String),
			jsonline.To("dimension", &x.Dimension, r.String),
			jsonline.To("severity", &severity, r.String),
			jsonline.To("explanation", &x.Explanation, r.String),
			jsonline.To("penalty", &x.Penalty, number(r)),
		})...)
		x.Severity = analysis.Severity(severity)
		return x, err
	}
	return []jsonline.Field{
		jsonline.To("errors", &e.Errors, jsonline.List(r, fault)),
		jsonline.To("detail", &e.Detail, r.String),
		jsonline.To("raw", &e.Raw, pointer(r.String)),
	}
}

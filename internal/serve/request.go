package serve

import (
	"slices"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// request is a line that was read. The id is as it is echoed, and "null" where the
// line has none that can be.
type request struct {
	id     string
	method string
	params []byte // an object; nil where there are none
}

const (
	maxID     = 80 // bytes of an id that is a text
	maxDigits = 19 // of one that is an integer
)

// parse reads a request. The id of a line that is none is null.
func parse(line []byte) (request, error) {
	r := reader{jsonline.NewReader(line)}
	out := request{id: "null"}
	var id, method bool
	err := r.Whole(
		jsonline.To("id", &out.id, r.id).Noted(&id),
		jsonline.To("method", &out.method, r.String).Noted(&method),
		jsonline.To("params", &out.params, r.RawObject),
	)
	if err != nil {
		return request{id: "null"}, err
	}
	switch {
	case !id:
		err = jsonline.Fault(0, `the request has no "id": an integer, or a text of up to 80 bytes`)
	case !method:
		err = jsonline.Fault(0, `the request has no "method"`)
	}
	return out, err
}

// reader reads ids too.
type reader struct{ *jsonline.Reader }

// id reads an id, as it is echoed.
func (r reader) id() (string, error) {
	at, kind := r.Offset(), r.Kind()
	b, err := r.ID()
	switch {
	case err != nil:
		return "null", err
	case kind == jsonline.String && len(b) <= maxID:
		return string(jsonline.AppendString(nil, string(b))), nil
	case kind == jsonline.Number && isInteger(b):
		return string(b), nil
	}
	return "null", jsonline.Unwanted(at, "an integer, or a text of up to 80 bytes", "another number or text")
}

func isInteger(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	return len(b) > 0 && len(b) <= maxDigits && !slices.ContainsFunc(b, func(c byte) bool { return c < '0' || c > '9' })
}

// cancelled reads the parameters of cancel.
func cancelled(params []byte) (id string, err error) {
	r := reader{jsonline.NewReader(params)}
	err = r.Object(jsonline.To("id", &id, r.id))
	if err == nil && id == "" {
		err = jsonline.Fault(0, `name the request by "id"`)
	}
	return id, err
}

// method finds a method by its name.
func (s *Server) method(name string) (Method, error) {
	if m := s.Methods[name]; m != nil {
		return m, nil
	}
	return nil, jsonline.Fault(0, "%s", english.Unknown("method", text.Brief(name), append(s.Names[:len(s.Names):len(s.Names)], cancelMethod)))
}

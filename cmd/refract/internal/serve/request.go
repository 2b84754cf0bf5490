package serve

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// request is a parsed line. Its id is the JSON that the answer repeats, or noID.
type request struct {
	id     string
	line   int // its number, from 1
	method string
	params []byte // an object
}

// noID is the id of a line without a valid one.
const noID = "null"

const (
	maxID     = 80 // bytes of a text id
	maxDigits = 19 // digits of an integer id
)

// parse reads a request. An invalid request still gets its id, if the line is JSON.
func parse(line []byte) (request, error) {
	var in struct {
		ID     requestID      `json:"id"`
		Method *string        `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return request{id: noID}, jsonline.Fault("the line is empty; a request is a JSON object")
	}
	if err := jsonline.Unmarshal(line, &in, "a request"); err != nil {
		id := struct {
			ID requestID `json:"id"`
		}{}
		if json.Unmarshal(line, &id) != nil || id.ID == "" {
			id.ID = noID
		}
		return request{id: string(id.ID)}, err
	}
	out := request{id: cmp.Or(string(in.ID), noID), params: in.Params}
	switch {
	case in.ID == "":
		return out, jsonline.Fault(`the request has no "id": an integer, or a text of up to 80 bytes`)
	case in.Method == nil:
		return out, jsonline.Fault(`the request has no "method"`)
	case in.Params != nil && in.Params.Kind() != '{':
		return out, jsonline.Fault("field params must be an object")
	case in.Params == nil:
		out.params = []byte("{}")
	}
	out.method = *in.Method
	return out, nil
}

// requestID is an id as the JSON that the answer repeats.
type requestID string

// UnmarshalJSONFrom reads an integer or a text.
func (id *requestID) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch text, _ := jsontext.AppendUnquote(nil, v); {
	case v.Kind() == '"' && len(text) <= maxID:
		*id = requestID(jsonline.AppendString(nil, string(text)))
	case v.Kind() == '0' && isInteger(v):
		*id = requestID(v)
	default:
		return errors.New("must be an integer, or a text of up to 80 bytes")
	}
	return nil
}

func isInteger(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	return len(b) <= maxDigits && !bytes.ContainsFunc(b, func(c rune) bool { return c < '0' || c > '9' })
}

// method finds a method by its name.
func (s *Server) method(name string) (Method, error) {
	if m := s.Methods[name]; m != nil {
		return m, nil
	}
	return nil, jsonline.Fault("%s", english.Unknown("method", text.Brief(name), append(s.Names[:len(s.Names):len(s.Names)], cancelMethod)))
}

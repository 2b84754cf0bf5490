package neural

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/refract-eval/refract/llm"
)

// rest speaks the protocol's REST form.
type rest struct{ model, version string }

// at is the path of the model, or of what is below it.
func (w *rest) at(below string) string {
	path := "/v2/models/" + url.PathEscape(w.model)
	if w.version != "" {
		path += "/versions/" + url.PathEscape(w.version)
	}
	return path + below
}

// get reads a JSON object.
func (w *rest) get(path string, into any) llm.Call {
	return llm.Call{Method: http.MethodGet, Path: path, Model: w.model, Most: 1 << 20, Read: func(_ string, _ *http.Response, body []byte) error {
		if into == nil {
			return nil
		}
		return unmarshal(body, into)
	}}
}

func unmarshal(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		for _, number := range []string{"NaN", "Infinity"} {
			if at := body[max(0, syntax.Offset-1):]; bytes.HasPrefix(at, []byte(number)) {
				return fmt.Errorf("gave %s, which is no number of JSON and no score", number)
			}
		}
		return err
	}
	return errors.New("gave an answer of an unexpected shape")
}

func (w *rest) ready() llm.Call { return w.get("/v2/health/ready", nil) }

func (w *rest) metadata(into *description) llm.Call { return w.get(w.at(""), into) }

// jsonTensor is a tensor in a request or an answer.
type jsonTensor struct {
	Name     string          `json:"name"`
	Datatype string          `json:"datatype,omitempty"`
	Shape    []int           `json:"shape,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

type restRequest struct {
	ID      string       `json:"id"`
	Inputs  []jsonTensor `json:"inputs"`
	Outputs []jsonTensor `json:"outputs"`
}

type restAnswer struct {
	ID      string          `json:"id"`
	Model   string          `json:"model_name"`
	Version string          `json:"model_version"`
	Error   json.RawMessage `json:"error"`
	Outputs []jsonTensor    `json:"outputs"`
}

// infer makes a call for outputs; read takes the answer, and says what is wrong with it.
func (w *rest) infer(id string, inputs []tensor, outputs []string, read func(server string, a *answer) error) (llm.Call, error) {
	r := restRequest{ID: id}
	for _, t := range inputs {
		var data any = t.texts
		if t.ints != nil {
			data = t.ints
		}
		b, err := encode(data)
		if err != nil {
			return llm.Call{}, err
		}
		r.Inputs = append(r.Inputs, jsonTensor{t.name, t.datatype, t.shape, b})
	}
	for _, name := range outputs {
		r.Outputs = append(r.Outputs, jsonTensor{Name: name})
	}
	content, err := encode(r)
	return llm.Call{
		Method: http.MethodPost, Path: w.at("/infer"), Model: w.model, Content: content,
		Read: func(server string, _ *http.Response, body []byte) error {
			a, err := readREST(body)
			if err != nil {
				return err
			}
			return read(server, a)
		},
	}, err
}

// encode writes JSON without HTML's escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// readREST reads an answer. An error says what the server did wrong.
func readREST(body []byte) (*answer, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("gave an answer that is not valid UTF-8")
	}
	var r restAnswer
	if err := unmarshal(body, &r); err != nil {
		return nil, err
	}
	if text := string(r.Error); text != "" && text != "null" && text != `""` {
		return nil, &llm.Refusal{Status: http.StatusInternalServerError, Message: text}
	}
	a := &answer{id: r.ID, model: r.Model, version: r.Version}
	for _, t := range r.Outputs {
		got := received{name: t.Name, datatype: t.Datatype, shape: t.Shape}
		if err := got.flatten(t.Data); err != nil {
			return nil, err
		}
		a.tensors = append(a.tensors, got)
	}
	return a, nil
}

// flatten reads the values of a tensor, which may be a list, or lists of lists.
func (t *received) flatten(data json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		texts := t.datatype == bytesType
		switch v := token.(type) {
		case json.Delim:
			if v == '[' || v == ']' {
				continue
			}
		case string:
			if texts {
				t.texts = append(t.texts, v)
				continue
			}
		case json.Number:
			if number, err := strconv.ParseFloat(v.String(), 64); err == nil && !texts {
				t.numbers = append(t.numbers, number)
				continue
			}
		}
		value := fmt.Sprintf("%.40q", fmt.Sprint(token))
		if token == nil {
			value = "null"
		}
		return fmt.Errorf("gave %s among the values of %.60q, which is %.20q", value, t.name, t.datatype)
	}
}

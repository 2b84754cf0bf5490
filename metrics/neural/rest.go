package neural

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/refract-eval/refract/llm"
)

// rest speaks the protocol's REST form.
type rest struct {
	model, version string
	binary         bool // the servers have the binary tensor extension
}

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

// hasBinary asks whether the server has the binary tensor extension.
func (w *rest) hasBinary(has *bool) llm.Call {
	var about struct {
		Extensions []string `json:"extensions"`
	}
	call := w.get("/v2", &about)
	read := call.Read
	call.Read = func(server string, resp *http.Response, body []byte) error {
		err := read(server, resp, body)
		*has = err == nil && slices.Contains(about.Extensions, "binary_tensor_data")
		return err
	}
	return call
}

func (w *rest) ready() llm.Call { return w.get("/v2/health/ready", nil) }

func (w *rest) metadata(into *description) llm.Call { return w.get(w.at(""), into) }

// modelConfig is what Triton tells of a model beside its metadata.
type modelConfig struct {
	MaxBatchSize int `json:"max_batch_size"`
}

func (w *rest) config(into *modelConfig) llm.Call { return w.get(w.at("/config"), into) }

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

func (w *rest) infer(id string, inputs []tensor, outputs []string, read func(server string, a *answer) error) (llm.Call, error) {
	r := restRequest{ID: id}
	var raw []byte
	for _, t := range inputs {
		sent := jsonTensor{Name: t.name, Datatype: t.datatype, Shape: t.shape}
		if w.binary {
			before := len(raw)
			raw = appendRaw(raw, &t)
			sent.Parameters.Size = new(len(raw) - before)
		} else {
			var data any = t.texts
			if t.ints != nil {
				data = t.ints
			}
			var err error
			if sent.Data, err = encode(data); err != nil {
				return llm.Call{}, err
			}
		}
		r.Inputs = append(r.Inputs, sent)
	}
	for _, name := range outputs {
		wanted := jsonTensor{Name: name}
		if w.binary {
			wanted.Parameters.Binary = &w.binary
		}
		r.Outputs = append(r.Outputs, wanted)
	}
	content, err := encode(r)
	if err != nil {
		return llm.Call{}, err
	}
	call := llm.Call{
		Method: http.MethodPost, Path: w.at("/infer"), Model: w.model, Content: content,
		Read: func(server string, resp *http.Response, body []byte) error {
			a, err := readREST(resp.Header.Get(jsonLength), body)
			if err != nil {
				return err
			}
			return read(server, a)
		},
	}
	if w.binary {
		call.Header = http.Header{jsonLength: {strconv.Itoa(len(content))}, "Content-Type": {"application/octet-stream"}}
		call.Content = append(content, raw...)
	}
	return call, nil
}

// encode writes JSON without HTML's escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// readREST reads an answer, whose JSON has so many bytes ("" for all). An error says
// what the server did wrong.
func readREST(length string, body []byte) (*answer, error) {
	body, raw, err := split(length, body)
	if err != nil {
		return nil, fmt.Errorf("gave an answer at fault: %w", err)
	}
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
		var err error
		if size := t.Parameters.Size; size == nil {
			err = got.flatten(t.Data)
		} else if *size < 0 || *size > len(raw) {
			err = fmt.Errorf("gave %.60q with %d bytes, of which there are %d", t.Name, *size, len(raw))
		} else {
			err = got.raw(raw[:*size])
			raw = raw[*size:]
		}
		if err != nil {
			return nil, err
		}
		a.tensors = append(a.tensors, got)
	}
	if len(raw) > 0 {
		return nil, fmt.Errorf("gave %d bytes that belong to no output", len(raw))
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

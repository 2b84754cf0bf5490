package neural

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/llm"
)

// path is the URL path of the model, or of something below it.
func (s *spec) path(below string) string {
	path := "/v2/models/" + url.PathEscape(s.model)
	if s.version != "" {
		path += "/versions/" + url.PathEscape(s.version)
	}
	return path + below
}

// metadata is the call for the description of the model.
func (s *spec) metadata(into *description) llm.Call {
	return llm.Call{Method: http.MethodGet, Path: s.path(""), Model: s.model, Most: 1 << 20, Read: func(_ string, _ *http.Response, body []byte) error {
		return unmarshal(body, into)
	}}
}

func ready(string, *http.Response, []byte) error { return nil }

func unmarshal(body []byte, into any) error {
	err := json.Unmarshal(jsonline.Finite(body), into)
	if err != nil && !errors.As(err, new(*json.SyntaxError)) {
		return errors.New("gave an answer of an unexpected shape")
	}
	return err
}

// answer is an inference response. Fields are "" if absent.
type answer struct {
	ID      string          `json:"id"`
	Model   string          `json:"model_name"`
	Version string          `json:"model_version"`
	Error   json.RawMessage `json:"error"`
	Outputs []struct {
		Name     string          `json:"name"`
		Datatype string          `json:"datatype"`
		Shape    []int           `json:"shape"`
		Data     json.RawMessage `json:"data"`
	} `json:"outputs"`
}

// infer makes a call for the scores of rows. read gets the answer, and says what is wrong
// with it.
func (m *metric) infer(id string, all []scored, read func(server string, a *answer) error) (llm.Call, error) {
	inputs, err := m.form.inputs(all)
	if err != nil {
		return llm.Call{}, err
	}
	most := 64<<10 + 64*len(all)
	if m.form.spans {
		for _, r := range all { // each word may come back in an error, possibly as JSON
			most += 1<<10 + 512*len(r.row[hypothesis])
		}
	}
	var content bytes.Buffer
	e := json.NewEncoder(&content)
	e.SetEscapeHTML(false)
	err = e.Encode(struct {
		ID      string   `json:"id"`
		Inputs  []tensor `json:"inputs"`
		Outputs []tensor `json:"outputs"`
	}{id, inputs, m.form.outputs(m.spec.output)})
	return llm.Call{
		Method: http.MethodPost, Path: m.spec.path("/infer"), Model: m.spec.model, Content: content.Bytes(), Most: int64(most),
		Read: func(server string, _ *http.Response, body []byte) error {
			a, err := readAnswer(body)
			if err != nil {
				return err
			}
			return read(server, a)
		},
	}, err
}

// readAnswer parses an answer. An error says what the server did wrong.
func readAnswer(body []byte) (*answer, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("gave an answer that is not valid UTF-8")
	}
	a := &answer{}
	if err := unmarshal(body, a); err != nil {
		return nil, err
	}
	if text := string(a.Error); text != "" && text != "null" && text != `""` {
		return nil, &llm.Refusal{Status: http.StatusInternalServerError, Message: text}
	}
	return a, nil
}

// Package oiptest is a server of the Open Inference Protocol for tests. It has one
// model, which counts the runes that texts share, and
// faults to order.
package oiptest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Server is an http.Handler. Its fields may not change once it serves.
type Server struct {
	Model             string // "" means "fake"
	Version           string // "" means "1"
	Flat              bool   // each row has its own texts
	NoSource, NoFacts bool
	Spans             bool
	Key               string // the bearer token that it wants
	MaxRows           int    // more are refused with 413
	// Facts are stated in place of the usual ones.
	Facts string
	// Change, if not nil, changes a good answer. n counts inferences from 1; the first
	// is that of the probe.
	Change func(n int, a *Answer)
	// Fault answers an inference in place of the server, and reports whether
	// it did.
	Fault func(n int, w http.ResponseWriter, r *Request) bool

	calls, rows, texts atomic.Int64
}

// Facts are what the model states of itself.
const Facts = `{"name":"fake","version":"2.1","signature":{"layer":9,"precision":"fp32"},"needs":["source","reference"],"direction":"higher","lower":0,"upper":1}`

// Request is an inference request.
type Request struct {
	ID     string   `json:"id"`
	Inputs []Tensor `json:"inputs"`
	Rows   []Row    `json:"-"`
}

// Row is what has one score.
type Row struct {
	Source, Hypothesis, Reference string
}

// Tensor is a tensor of a request or an answer.
type Tensor struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
	Data     any    `json:"data,omitempty"`
}

// Answer is an inference response.
type Answer struct {
	ID      string   `json:"id,omitempty"`
	Model   string   `json:"model_name"`
	Version string   `json:"model_version"`
	Outputs []Tensor `json:"outputs"`
}

// Calls is how many inferences were asked for, Rows how many scores, and Texts how
// many texts came.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// Rows is how many scores were asked for.
func (s *Server) Rows() int { return int(s.rows.Load()) }

// Texts is how many texts came.
func (s *Server) Texts() int { return int(s.texts.Load()) }

func (s *Server) model() string   { return cmp.Or(s.Model, "fake") }
func (s *Server) version() string { return cmp.Or(s.Version, "1") }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		Fail(w, http.StatusUnauthorized, "no access with "+r.Header.Get("Authorization"))
		return
	}
	model := "/v2/models/" + s.model()
	path := strings.TrimSuffix(strings.Replace(r.URL.Path, "/versions/"+s.version(), "", 1), "/")
	switch path {
	case "/v2/health/ready":
	case "/v2":
		write(w, map[string]any{"name": "oiptest", "version": "1", "extensions": []string{}})
	case model:
		write(w, s.metadata())
	case model + "/infer":
		s.infer(w, r)
	default:
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"Request for unknown model: %q is not found"}`, r.URL.Path)
	}
}

// Fail answers with a status and an error.
func Fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) metadata() map[string]any {
	any1 := []int{-1}
	inputs := []Tensor{{Name: "hypothesis", Datatype: "BYTES", Shape: any1}}
	if !s.NoSource {
		inputs = append(inputs, Tensor{Name: "source", Datatype: "BYTES", Shape: any1})
	}
	inputs = append(inputs, Tensor{Name: "reference", Datatype: "BYTES", Shape: any1})
	if !s.Flat {
		inputs = append(inputs, Tensor{Name: "pairs", Datatype: "INT32", Shape: []int{-1, 3}})
	}
	outputs := []Tensor{{Name: "score", Datatype: "FP32", Shape: any1}}
	if s.Spans {
		outputs = append(outputs, Tensor{Name: "error_spans", Datatype: "BYTES", Shape: any1})
	}
	if !s.NoFacts {
		outputs = append(outputs, Tensor{Name: "facts", Datatype: "BYTES", Shape: []int{1}})
	}
	return map[string]any{"name": s.model(), "versions": []string{s.version()}, "platform": "oiptest", "inputs": inputs, "outputs": outputs}
}

func (s *Server) infer(w http.ResponseWriter, r *http.Request) {
	n := int(s.calls.Add(1))
	var q Request
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(w, `{"detail":[{"type":"json_invalid","msg":%q}]}`, err)
		return
	}
	if err := s.read(&q); err != nil {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%q}`, err)
		return
	}
	s.rows.Add(int64(len(q.Rows)))
	switch {
	case s.Fault != nil && s.Fault(n, w, &q):
	case s.MaxRows > 0 && len(q.Rows) > s.MaxRows:
		Fail(w, http.StatusRequestEntityTooLarge, "too large")
	default:
		a := s.Answer(&q)
		if s.Change != nil {
			s.Change(n, a)
		}
		write(w, a)
	}
}

// read checks the tensors of a request, and makes rows of them.
func (s *Server) read(q *Request) error {
	texts, ints := map[string][]string{}, map[string][]int{}
	for i := range q.Inputs {
		t := &q.Inputs[i]
		list, ok := t.Data.([]any)
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		if !ok || n != len(list) {
			return fmt.Errorf("input '%s' has %d values in place of %d", t.Name, len(list), n)
		}
		for _, v := range list {
			switch v := v.(type) {
			case string:
				texts[t.Name] = append(texts[t.Name], v)
			case float64:
				ints[t.Name] = append(ints[t.Name], int(v))
			}
		}
		if t.Datatype == "BYTES" && len(texts[t.Name]) != n || t.Datatype == "INT32" && len(ints[t.Name]) != n {
			return fmt.Errorf("input '%s' is not of its datatype %s", t.Name, t.Datatype)
		}
		s.texts.Add(int64(len(texts[t.Name])))
	}
	if s.Flat {
		for i, hypothesis := range texts["hypothesis"] {
			row := Row{Hypothesis: hypothesis, Reference: texts["reference"][i]}
			if !s.NoSource {
				row.Source = texts["source"][i]
			}
			q.Rows = append(q.Rows, row)
		}
		return nil
	}
	names := [3]string{"source", "hypothesis", "reference"}
	for _, name := range names {
		seen := map[string]bool{}
		for _, text := range texts[name] {
			if seen[text] {
				return fmt.Errorf("input '%s' has %q twice", name, text)
			}
			seen[text] = true
		}
	}
	for p := ints["pairs"]; len(p) >= 3; p = p[3:] {
		var row [3]string
		for k, name := range names {
			if i := p[k]; i >= len(texts[name]) || i < -1 || (i == -1) != (name == "source" && s.NoSource) {
				return fmt.Errorf("pairs have the index %d into %d of '%s'", i, len(texts[name]), name)
			} else if i >= 0 {
				row[k] = texts[name][i]
			}
		}
		q.Rows = append(q.Rows, Row{row[0], row[1], row[2]})
	}
	return nil
}

// Answer is a good answer to a request.
func (s *Server) Answer(q *Request) *Answer {
	scores, spans := make([]float32, len(q.Rows)), make([]string, len(q.Rows))
	for i, row := range q.Rows {
		scores[i], spans[i] = row.Score(), Spans(row.Hypothesis)
	}
	shape := []int{len(scores)}
	a := &Answer{ID: q.ID, Model: s.model(), Version: s.version()}
	a.Outputs = append(a.Outputs, Tensor{Name: "score", Datatype: "FP32", Shape: shape, Data: scores})
	if s.Spans {
		a.Outputs = append(a.Outputs, Tensor{Name: "error_spans", Datatype: "BYTES", Shape: shape, Data: spans})
	}
	if !s.NoFacts {
		facts := cmp.Or(s.Facts, Facts)
		a.Outputs = append(a.Outputs, Tensor{Name: "facts", Datatype: "BYTES", Shape: []int{1}, Data: []string{facts}})
	}
	return a
}

// Score is what the model gives: the share of the hypothesis's runes that the source
// or the reference have. It is between 0 and 1.
func (r Row) Score() float32 {
	n, shared := 0, 0
	for _, c := range r.Hypothesis {
		n++
		if strings.ContainsRune(r.Source+r.Reference, c) {
			shared++
		}
	}
	return float32(shared) / float32(max(1, n))
}

// Spans are the errors that the model finds: a first word "bad".
func Spans(hypothesis string) string {
	if !strings.HasPrefix(hypothesis, "bad") {
		return "[]"
	}
	word, _, _ := strings.Cut(hypothesis, " ")
	out, _ := json.Marshal([]map[string]any{{"text": word, "severity": "major", "start": 0, "end": utf8.RuneCountInString(word), "confidence": 0.75}})
	return string(out)
}

package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// OIP is a server of the Open Inference Protocol, for either form of requests. Its only model
// scores by the runes that texts share. Its fields must not change after the first request.
type OIP struct {
	Model             string // "" means "fake"
	Flat              bool   // each row has its own texts; otherwise texts come by segment
	NoSource, NoFacts bool
	Spans             bool
	Key               string // required bearer token
	Facts             string // stated instead of OIPFacts
	Datatype          string // of scores; "" means "FP32"
	// Change, if not nil, changes a good answer. n counts inferences from 1; the first is
	// the probe.
	Change func(n int, a *OIPAnswer)
	// Fault answers an inference instead of the server, and reports whether it did.
	Fault func(n int, w http.ResponseWriter, r *OIPRequest) bool

	calls, rows, texts atomic.Int64
}

// OIPFacts is what the model states about itself.
const OIPFacts = `{"name":"fake","version":"2.1","signature":{"layer":9,"precision":"fp32"},"needs":["source","reference"],"direction":"higher","lower":0,"upper":1}`

// OIPRequest is an inference request.
type OIPRequest struct {
	ID     string   `json:"id"`
	Inputs []Tensor `json:"inputs"`
	Rows   []Row    `json:"-"`
}

// Row holds the texts of one score.
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

// OIPAnswer is an inference response.
type OIPAnswer struct {
	ID      string   `json:"id,omitempty"`
	Model   string   `json:"model_name"`
	Version string   `json:"model_version"`
	Outputs []Tensor `json:"outputs"`
}

// Calls returns the number of requested inferences.
func (o *OIP) Calls() int { return int(o.calls.Load()) }

// Rows returns the number of requested scores.
func (o *OIP) Rows() int { return int(o.rows.Load()) }

// Texts returns the number of received texts.
func (o *OIP) Texts() int { return int(o.texts.Load()) }

// ServeHTTP implements http.Handler.
func (o *OIP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.Key != "" && r.Header.Get("Authorization") != "Bearer "+o.Key {
		OIPFail(w, http.StatusUnauthorized, "no access with "+r.Header.Get("Authorization"))
		return
	}
	model := "/v2/models/" + cmp.Or(o.Model, "fake")
	switch strings.TrimSuffix(strings.Replace(r.URL.Path, "/versions/1", "", 1), "/") {
	case "/v2/health/ready":
	case "/v2":
		writeJSON(w, http.StatusOK, map[string]any{"name": "oip", "version": "1", "extensions": []string{}})
	case model:
		writeJSON(w, http.StatusOK, o.metadata())
	case model + "/infer":
		o.infer(w, r)
	default:
		OIPFail(w, http.StatusNotFound, fmt.Sprintf("Request for unknown model: %q is not found", r.URL.Path))
	}
}

// OIPFail answers with a status and an error.
func OIPFail(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"error": message})
}

func (o *OIP) metadata() map[string]any {
	var inputs, outputs []Tensor
	add := func(to *[]Tensor, is bool, name, datatype string, shape ...int) {
		if is {
			*to = append(*to, Tensor{Name: name, Datatype: datatype, Shape: shape})
		}
	}
	add(&inputs, true, "hypothesis", "BYTES", -1)
	add(&inputs, !o.NoSource, "source", "BYTES", -1)
	add(&inputs, true, "reference", "BYTES", -1)
	add(&inputs, !o.Flat, "pairs", "INT32", -1, 3)
	add(&outputs, true, "score", cmp.Or(o.Datatype, "FP32"), -1)
	add(&outputs, o.Spans, "error_spans", "BYTES", -1)
	add(&outputs, !o.NoFacts, "facts", "BYTES", 1)
	return map[string]any{"name": cmp.Or(o.Model, "fake"), "versions": []string{"1"}, "platform": "test", "inputs": inputs, "outputs": outputs}
}

func (o *OIP) infer(w http.ResponseWriter, r *http.Request) {
	n := int(o.calls.Add(1))
	var q OIPRequest
	err := json.NewDecoder(r.Body).Decode(&q)
	if err == nil {
		err = o.read(&q)
	}
	if err != nil {
		OIPFail(w, http.StatusBadRequest, err.Error())
		return
	}
	o.rows.Add(int64(len(q.Rows)))
	switch {
	case o.Fault != nil && o.Fault(n, w, &q):
	default:
		a := o.answer(&q)
		if o.Change != nil {
			o.Change(n, a)
		}
		writeJSON(w, http.StatusOK, a)
	}
}

// read converts the tensors of a request to rows.
func (o *OIP) read(q *OIPRequest) error {
	texts, ints := map[string][]string{}, map[string][]int{}
	for _, t := range q.Inputs {
		list, _ := t.Data.([]any)
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		for _, v := range list {
			switch v := v.(type) {
			case string:
				texts[t.Name] = append(texts[t.Name], v)
			case float64:
				ints[t.Name] = append(ints[t.Name], int(v))
			}
		}
		if got := map[string]int{"BYTES": len(texts[t.Name]), "INT32": len(ints[t.Name])}[t.Datatype]; got != n {
			return fmt.Errorf("input '%s' has %d values of %s instead of %d", t.Name, got, t.Datatype, n)
		}
		o.texts.Add(int64(len(texts[t.Name])))
	}
	text := func(name string, i int) string {
		if i < 0 || i >= len(texts[name]) {
			return ""
		}
		return texts[name][i]
	}
	for p := ints["pairs"]; len(p) >= 3; p = p[3:] {
		q.Rows = append(q.Rows, Row{text("source", p[0]), text("hypothesis", p[1]), text("reference", p[2])})
	}
	if o.Flat {
		for i, hypothesis := range texts["hypothesis"] {
			q.Rows = append(q.Rows, Row{text("source", i), hypothesis, text("reference", i)})
		}
	}
	return nil
}

// answer returns a good answer to a request.
func (o *OIP) answer(q *OIPRequest) *OIPAnswer {
	scores, spans := make([]float32, len(q.Rows)), make([]string, len(q.Rows))
	for i, row := range q.Rows {
		scores[i], spans[i] = row.Score(), spansOf(row.Hypothesis)
	}
	a := &OIPAnswer{ID: q.ID, Model: cmp.Or(o.Model, "fake"), Version: "1", Outputs: []Tensor{{"score", cmp.Or(o.Datatype, "FP32"), []int{len(scores)}, scores}}}
	if o.Spans {
		a.Outputs = append(a.Outputs, Tensor{"error_spans", "BYTES", []int{len(scores)}, spans})
	}
	if !o.NoFacts {
		a.Outputs = append(a.Outputs, Tensor{"facts", "BYTES", []int{1}, []string{cmp.Or(o.Facts, OIPFacts)}})
	}
	return a
}

// Score returns the model's score: the share of the hypothesis's runes that occur in the source or
// the reference, between 0 and 1.
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

// spansOf returns the errors that the model finds: the word "bad" at the beginning.
func spansOf(hypothesis string) string {
	if !strings.HasPrefix(hypothesis, "bad") {
		return "[]"
	}
	word, _, _ := strings.Cut(hypothesis, " ")
	return fmt.Sprintf(`[{"text":%q,"severity":"major","start":0,"end":%d,"confidence":0.75}]`, word, utf8.RuneCountInString(word))
}

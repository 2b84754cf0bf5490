package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/refract-eval/refract/internal/jsonline"
)

// Models are metrics as the Open Inference Protocol sees them.
type Models interface {
	// Model describes the metric of a name.
	Model(ctx context.Context, name string) (*Model, error)
	// Score gives each row a score.
	Score(ctx context.Context, name string, rows []Row) ([]float64, error)
}

// Model is what the protocol asks of a metric.
type Model struct {
	Source, Reference bool   // what it needs
	Native            bool   // it has a rule of its own for several references
	Facts             []byte // JSON: see docs/neural.md
}

// Row is what has one score: against one reference, or natively against several.
type Row struct {
	Source, Hypothesis string
	References         []string
}

// tensor is one in JSON.
type tensor struct {
	Name     string          `json:"name"`
	Datatype string          `json:"datatype"`
	Shape    []int           `json:"shape"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// handleModels adds the protocol's paths.
func (s *Server) handleModels(mux *http.ServeMux, models Models, fixed func([]byte) http.HandlerFunc) {
	about, _ := json.Marshal(map[string]any{"name": "refract", "version": s.Version, "extensions": []string{}}) // of texts
	mux.HandleFunc("GET /v2", fixed(about))
	for _, state := range []string{"live", "ready"} {
		mux.HandleFunc("GET /v2/health/"+state, fixed([]byte(`{"`+state+`":true}`)))
	}
	handle := func(pattern string, answer func(ctx context.Context, m *Model, name string, body []byte) (any, error)) {
		mux.HandleFunc(pattern, func(rw http.ResponseWriter, r *http.Request) {
			name := r.PathValue("model")
			out, err := s.call(rw, r, func(ctx context.Context, body []byte) ([]byte, error) {
				m, err := models.Model(ctx, name)
				if err != nil {
					return nil, err
				}
				got, err := answer(ctx, m, name, body)
				if err != nil {
					return nil, err
				}
				return json.Marshal(got)
			})
			status := http.StatusOK
			if err != nil {
				var message string
				status, _, message = s.refusal(r.Context(), err)
				out = append(jsonline.AppendString([]byte(`{"error":`), message), '}')
			}
			reply(rw, status, out)
		})
	}
	handle("GET /v2/models/{model}", func(_ context.Context, m *Model, name string, _ []byte) (any, error) { return m.metadata(name), nil })
	handle("GET /v2/models/{model}/ready", func(_ context.Context, _ *Model, name string, _ []byte) (any, error) {
		return map[string]any{"name": name, "ready": true}, nil
	})
	handle("POST /v2/models/{model}/infer", func(ctx context.Context, m *Model, name string, body []byte) (any, error) {
		return m.infer(ctx, models, name, body)
	})
}

// metadata states the tensors of a model, in the flat form of docs/neural.md.
func (m *Model) metadata(name string) any {
	texts := func(name string) tensor { return tensor{Name: name, Datatype: "BYTES", Shape: []int{-1}} }
	inputs := []tensor{texts("hypothesis")}
	if m.Source {
		inputs = append(inputs, texts("source"))
	}
	if m.Reference {
		inputs = append(inputs, texts("reference"))
	}
	if m.Native {
		inputs = append(inputs, tensor{Name: "nrefs", Datatype: "INT32", Shape: []int{-1}})
	}
	return map[string]any{"name": name, "versions": []string{modelVersion}, "platform": "refract", "inputs": inputs, "outputs": []tensor{
		{Name: "score", Datatype: "FP32", Shape: []int{-1}}, {Name: "facts", Datatype: "BYTES", Shape: []int{1}},
	}}
}

const modelVersion = "1"

// infer scores the rows of a request.
func (m *Model) infer(ctx context.Context, models Models, name string, body []byte) (any, error) {
	var r struct {
		ID      string   `json:"id"`
		Inputs  []tensor `json:"inputs"`
		Outputs []tensor `json:"outputs"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, &Usage{fmt.Errorf("the request is no JSON of the protocol: %w", err)}
	}
	rows, err := m.rows(r.Inputs)
	if err != nil {
		return nil, &Usage{err}
	}
	scores, err := models.Score(ctx, name, rows)
	if err != nil {
		return nil, err
	}
	values := make([]float32, len(scores))
	for i, v := range scores {
		if values[i] = float32(v); math.IsInf(float64(values[i]), 0) {
			return nil, fmt.Errorf("row %d has the score %v, which is beyond FP32", i, v)
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	outputs := []tensor{{"score", "FP32", []int{len(values)}, data}}
	for _, o := range r.Outputs {
		if o.Name == "facts" {
			facts, _ := json.Marshal([]string{string(m.Facts)}) // a text
			outputs = append(outputs, tensor{"facts", "BYTES", []int{1}, facts})
		}
	}
	return map[string]any{"id": r.ID, "model_name": name, "model_version": modelVersion, "outputs": outputs}, nil
}

// rows reads the tensors of a request.
func (m *Model) rows(inputs []tensor) ([]Row, error) {
	texts := map[string][]string{}
	var counts []int
	for _, t := range inputs {
		var into any
		var list []string
		switch wants := map[string]bool{"hypothesis": true, "source": m.Source, "reference": m.Reference}; {
		case wants[t.Name] && t.Datatype == "BYTES":
			into = &list
		case t.Name == "nrefs" && m.Native && t.Datatype == "INT32":
			into = &counts
		default:
			return nil, fmt.Errorf("the model has no input %.60q of the datatype %.20q", t.Name, t.Datatype)
		}
		if err := json.Unmarshal(t.Data, into); err != nil {
			return nil, fmt.Errorf("the input %s has no list of values in its data (binary tensors are not taken): %w", t.Name, err)
		}
		if texts[t.Name] = list; strings.Contains(t.Name, "nrefs") {
			continue
		}
		if len(t.Shape) == 0 || t.Shape[0] != len(list) {
			return nil, fmt.Errorf("the input %s has %d values and the shape %v", t.Name, len(list), t.Shape)
		}
	}
	n := len(texts["hypothesis"])
	if n == 0 {
		return nil, errors.New("the request has no hypothesis")
	}
	if counts == nil {
		counts = make([]int, n)
		for i := range counts {
			counts[i] = 1
		}
	}
	rows := make([]Row, n)
	left := texts["reference"]
	if m.Source && len(texts["source"]) != n || len(counts) != n {
		return nil, fmt.Errorf("there are %d hypotheses, %d sources and %d numbers of references", n, len(texts["source"]), len(counts))
	}
	for i := range rows {
		if rows[i].Hypothesis = texts["hypothesis"][i]; m.Source {
			rows[i].Source = texts["source"][i]
		}
		if !m.Reference {
			continue
		}
		if counts[i] < 1 || counts[i] > len(left) {
			return nil, fmt.Errorf("hypothesis %d has %d references, and %d are left", i, counts[i], len(left))
		}
		rows[i].References, left = left[:counts[i]], left[counts[i]:]
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%d references belong to no hypothesis", len(left))
	}
	return rows, nil
}

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/oip"
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

// modelVersion is that of every model.
const modelVersion = "1"

// handleModels adds the protocol's paths.
func (s *Server) handleModels(mux *http.ServeMux, models Models, fixed func([]byte) http.HandlerFunc) {
	about, _ := json.Marshal(map[string]any{"name": "refract", "version": s.Version, "extensions": []string{"binary_tensor_data"}}) // of texts
	mux.HandleFunc("GET /v2", fixed(about))
	for _, state := range []string{"live", "ready"} {
		mux.HandleFunc("GET /v2/health/"+state, fixed([]byte(`{"`+state+`":true}`)))
	}
	wrong := func(_, message string) []byte {
		return append(jsonline.AppendString([]byte(`{"error":`), message), '}')
	}
	handle := func(verb, below string, answer func(ctx context.Context, m *Model, q *inference) (any, error)) {
		handler := func(rw http.ResponseWriter, r *http.Request) {
			q := &inference{models: models, name: r.PathValue("model"), length: r.Header.Get(oip.JSONLength)}
			s.call(rw, r, wrong, func(ctx context.Context, body []byte) ([]byte, error) {
				if version := r.PathValue("version"); version != "" && version != modelVersion {
					return nil, &Usage{fmt.Errorf("the version %.40q of the model is not there: it is %s", version, modelVersion)}
				}
				m, err := models.Model(ctx, q.name)
				if err != nil {
					return nil, err
				}
				q.body = body
				got, err := answer(ctx, m, q)
				if err != nil {
					return nil, err
				}
				out, err := json.Marshal(got)
				if err == nil && q.raw != nil {
					rw.Header().Set(oip.JSONLength, strconv.Itoa(len(out)))
					rw.Header().Set("Content-Type", "application/octet-stream")
				}
				return append(out, q.raw...), err
			})
		}
		mux.HandleFunc(verb+" /v2/models/{model}"+below, handler)
		mux.HandleFunc(verb+" /v2/models/{model}/versions/{version}"+below, handler)
	}
	handle("GET", "", func(_ context.Context, m *Model, q *inference) (any, error) { return m.metadata(q.name), nil })
	handle("GET", "/ready", func(_ context.Context, _ *Model, q *inference) (any, error) {
		return map[string]any{"name": q.name, "ready": true}, nil
	})
	handle("POST", "/infer", func(ctx context.Context, m *Model, q *inference) (any, error) { return q.infer(ctx, m) })
}

// metadata states the tensors of a model, in the flat form of docs/neural.md.
func (m *Model) metadata(name string) any {
	texts := func(name string) oip.Tensor { return oip.Tensor{Name: name, Datatype: "BYTES", Shape: []int{-1}} }
	inputs := []oip.Tensor{texts("hypothesis")}
	if m.Source {
		inputs = append(inputs, texts("source"))
	}
	if m.Reference {
		inputs = append(inputs, texts("reference"))
	}
	if m.Native {
		inputs = append(inputs, oip.Tensor{Name: "nrefs", Datatype: "INT32", Shape: []int{-1}})
	}
	return map[string]any{"name": name, "versions": []string{modelVersion}, "platform": "refract", "inputs": inputs, "outputs": []oip.Tensor{
		{Name: "score", Datatype: "FP32", Shape: []int{-1}}, {Name: "facts", Datatype: "BYTES", Shape: []int{1}},
	}}
}

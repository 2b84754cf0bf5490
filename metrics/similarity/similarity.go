// Package similarity scores a hypothesis by the cosine between its embedding and the
// reference's.
package similarity

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// Name is the name of the metric in a spec.
const Name = "embedding"

// metric is the cosine, from -1 to 1; higher is better. An empty text has no vector, and
// its cells are metrics.Failed. A metric is safe for concurrent use.
type metric struct {
	model *embeddings.Model
	info  metrics.Info
}

var _ metrics.Foreseeing = (*metric)(nil)

// New returns the metric for an embedding model.
func New(m *embeddings.Model) (metrics.Metric, error) {
	if m.Name == "" {
		return nil, errors.New("no model is named: add model=NAME, such as model=text-embedding-3-small")
	}
	var kv []string
	for _, s := range settings(m) {
		kv = append(kv, s.Key, s.Value)
	}
	return &metric{m, declared(metrics.Canonical(Name, kv...))}, nil
}

// declared returns the Info, which is the same for all models.
func declared(name string) metrics.Info {
	return metrics.Info{
		Name: name, NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: -1, Upper: 1, Storable: true,
		// One call at a time, so that texts shared by segments are asked for once. The model
		// splits it into many requests.
		Pace: metrics.Pace{Batch: 256, Calls: 1},
	}
}

// settings are the part of the signature that distinguishes models' vectors.
func settings(m *embeddings.Model) metrics.Signature {
	return metrics.Signature{}.With(slices.Concat(
		metrics.Given(optionModel, m.Name, ""),
		metrics.Given(optionRevision, m.Revision, ""),
		metrics.Given(optionDimensions, m.Dimensions, 0),
	)...)
}

// The options of a spec.
const (
	optionModel      = "model"
	optionRevision   = "revision"
	optionDimensions = "dimensions"
	optionServer     = "base-url"
	optionBatch      = "batch-size"
)

// Open completes a model that has a name and the settings of a spec, by a store and the
// client of a server ("" for the default ones).
type Open func(ctx context.Context, m *embeddings.Model, server string) error

// Factory makes the metric from a spec.
func Factory(open Open) metrics.Factory {
	info := declared(Name)
	return metrics.Factory{
		Name:    Name,
		Summary: "cosine between the vectors that a model gives hypothesis and reference",
		Runs:    "embeddings",
		Info:    &info,
		Options: []metrics.Option{
			{Key: optionModel, Default: "required", Values: "NAME", Doc: "model that gives texts vectors"},
			{Key: optionRevision, Values: "TEXT", Doc: "revision of the model's weights, for the store and the signature"},
			{Key: optionDimensions, Default: "the model's own", Values: "number", Doc: "length of the vectors, of models that can shorten them"},
			{Key: optionServer, Default: "--base-url", Values: "URL", Doc: "server of this model"},
			{Key: optionBatch, Default: strconv.Itoa(embeddings.DefaultBatch), Values: "number", Doc: "texts in one call"},
		},
		New: func(ctx context.Context, v *metrics.Values) (metrics.Metric, error) {
			model := &embeddings.Model{
				Name:       v.String(optionModel, ""),
				Revision:   v.String(optionRevision, ""),
				Dimensions: v.Int(optionDimensions, 0, 1, 1<<16),
				Batch:      v.Int(optionBatch, embeddings.DefaultBatch, 1, 1<<16),
			}
			m, err := New(model)
			if err != nil {
				return nil, err
			}
			return m, open(ctx, model, v.String(optionServer, ""))
		},
	}
}

// Info implements metrics.Metric.
func (m *metric) Info() metrics.Info { return m.info }

// Signature implements metrics.Metric.
func (m *metric) Signature(metrics.Level) metrics.Signature {
	return settings(m.model).With("similarity", "cosine")
}

// Score implements metrics.Metric.
func (m *metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	texts := textsOf(blocks)
	vectors, err := m.model.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	of := make(map[string][]float32, len(texts))
	for i, t := range texts {
		of[t] = vectors[i]
	}
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		if out[i], err = cells(b, of); err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

// cells returns the scores of a block. Empty texts and texts that the server refused have
// no vectors, and their cells no score.
func cells(b metrics.Block, of map[string][]float32) (metrics.Scores, error) {
	present := func(texts []string) (vectors [][]float32) {
		for _, t := range texts {
			if of[t] != nil {
				vectors = append(vectors, of[t])
			}
		}
		return vectors
	}
	values, err := embeddings.Cosines(present(b.Hypotheses), present(b.References))
	if err != nil {
		return metrics.Scores{}, err
	}
	if len(values) == len(b.Hypotheses)*len(b.References) {
		return metrics.Scores{Values: values}, nil
	}
	var s metrics.Scores
	for _, h := range b.Hypotheses {
		for _, r := range b.References {
			if of[h] == nil || of[r] == nil {
				s.Values, s.Status = append(s.Values, 0), append(s.Status, metrics.Failed)
				continue
			}
			s.Values, s.Status = append(s.Values, values[0]), append(s.Status, metrics.Scored)
			values = values[1:]
		}
	}
	return s, nil
}

// textsOf returns the non-empty texts of blocks.
func textsOf(blocks []metrics.Block) (texts []string) {
	for _, b := range blocks {
		texts = append(append(texts, b.Hypotheses...), b.References...)
	}
	return slices.DeleteFunc(texts, func(t string) bool { return t == "" })
}

// forecast counts the texts of blocks whose vectors are not stored.
type forecast struct {
	*metric

	mu             sync.Mutex
	seen           map[string]bool
	stored, needed int // distinct texts
	out            metrics.Outlook
}

// Foresee implements metrics.Foreseeing.
func (m *metric) Foresee() metrics.Forecast {
	return &forecast{metric: m, seen: map[string]bool{}, out: metrics.Outlook{Model: m.model.Name}}
}

// Outlook implements metrics.Forecast. Stored counts vectors; a call asks for many. A run
// makes a few more calls than predicted, because each of its batches ends with one.
func (f *forecast) Outlook() metrics.Outlook {
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := cmp.Or(max(0, f.model.Batch), embeddings.DefaultBatch)
	f.out.Stored, f.out.Calls = f.stored, (f.needed+batch-1)/batch
	return f.out
}

// Score makes no call. All cells are Unneeded.
func (f *forecast) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var texts []string
	for _, t := range textsOf(blocks) {
		if !f.seen[t] {
			f.seen[t] = true
			texts = append(texts, t)
		}
	}
	missing, err := f.model.Missing(ctx, texts)
	if err != nil {
		return nil, err
	}
	f.stored += len(texts) - len(missing)
	f.needed += len(missing)
	for _, t := range missing {
		f.out.PromptTokens += llm.EstimateTokens(t)
	}
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		n := len(b.Hypotheses) * b.Columns()
		f.out.Cells += n
		out[i] = metrics.Scores{Values: make([]float64, n), Status: slices.Repeat([]metrics.Status{metrics.Unneeded}, n)}
	}
	return out, nil
}

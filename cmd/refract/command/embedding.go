package command

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/budget"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/similarity"
)

// embeddingFlags say where vectors come from.
type embeddingFlags struct {
	serverFlags
	model      string
	revision   string
	dimensions int
	batch      int

	opened *embedder // nil until texts are compared
}

func (x *embeddingFlags) register(cmd *cobra.Command) {
	x.registerModel(cmd, "revision")
	grouped(cmd, modelFlags, "embeddings")
	x.serverFlags.register(cmd, "vector")
}

func (x *embeddingFlags) registerModel(cmd *cobra.Command, revision string) {
	f := cmd.Flags()
	f.StringVar(&x.model, "embeddings", "", "model that gives texts vectors, such as text-embedding-3-small")
	f.StringVar(&x.revision, revision, "", "revision of the weights of --embeddings")
	f.IntVar(&x.dimensions, "dimensions", 0, "length of the vectors, of models that can shorten them; 0 for the model's own")
	f.IntVar(&x.batch, "batch-size", embeddings.DefaultBatch, "texts in one call")
	atLeast(cmd, 0, "dimensions")
	atLeast(cmd, 1, "batch-size")
}

// embedder is an Embedder over a server and a cache, which shows how far it is.
type embedder struct {
	*embeddings.Model
	e             *env
	progress      *report.Progress
	backend       store
	asked, stored int // that were shown
}

// embedder opens the model's cache and makes its client, once. It is nil where
// no model is named. Close it.
func (x *embeddingFlags) embedder(ctx context.Context, e *env) (embeddings.Embedder, error) {
	switch {
	case x.model == "":
		return nil, nil
	case x.opened != nil:
		return x.opened, nil
	}
	c := &embeddings.Model{Name: x.model, Revision: x.revision, Dimensions: x.dimensions, Batch: x.batch, Concurrency: x.calls(e)}
	if !x.offline {
		client, err := x.client(e, "")
		if err != nil {
			return nil, err
		}
		c.Client = client
	}
	backend, err := x.openStore(ctx, e, false)
	if err != nil {
		return nil, err
	}
	c.Store = backend
	x.opened = &embedder{Model: c, e: e, backend: backend, progress: e.progress("embed", "texts")}
	return x.opened, nil
}

// Embed implements embeddings.Embedder.
func (m *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := m.Model.Embed(ctx, texts)
	asked, stored := m.Asked(), m.Stored()
	m.progress.Add(asked - m.asked)
	m.progress.AddCached(stored - m.stored)
	m.asked, m.stored = asked, stored
	return out, err
}

// close ends the use of the cache and says what was asked for.
func (x *embeddingFlags) close() {
	if m := x.opened; m != nil {
		m.progress.Finish()
		m.backend.Close()
		m.e.tellVectors(m.Model)
	}
}

// tellVectors says where the vectors of a model came from.
func (e *env) tellVectors(m *embeddings.Model) {
	e.note("vectors of %s: %d by calls, %d from the cache", m.Name, m.Asked(), m.Stored())
}

// embedding gives the model of a metric that compares vectors the cache and the
// servers of the run.
func (j *judging) embedding(ctx context.Context, m *embeddings.Model, server string) error {
	if j == nil {
		return usagef("%s asks a server for vectors: score with it", similarity.Name)
	}
	if err := j.open(ctx); err != nil {
		return err
	}
	m.Store, m.Concurrency = j.store, j.callFlags.calls(j.e)
	v := &vectors{model: m, spend: j.spend}
	j.vectors = append(j.vectors, v)
	if !j.calling() {
		return nil
	}
	client, err := j.client("", server)
	if err != nil {
		return err
	}
	v.client, v.progress = client, j.shown("embed", "texts")
	m.Client = v
	return nil
}

// vectors are those that a run gets for a metric, within its budget.
type vectors struct {
	client   embeddings.Client
	model    *embeddings.Model
	spend    *budget.Budget
	progress *report.Progress
}

// Embed implements embeddings.Client.
func (v *vectors) Embed(ctx context.Context, r llm.EmbedRequest) (llm.EmbedResponse, error) {
	bill := llm.Request{Model: r.Model}
	for _, t := range r.Texts {
		bill.Messages = append(bill.Messages, llm.Message{Content: t})
	}
	if err := v.spend.Take(ctx, bill); err != nil {
		return llm.EmbedResponse{}, err
	}
	out, err := v.client.Embed(ctx, r)
	v.spend.Settle(bill, llm.Response{PromptTokens: out.PromptTokens}, err)
	v.progress.Add(len(out.Vectors))
	return out, err
}

// What --over names.
const (
	overNGrams     = "ngrams"
	overEmbeddings = "embeddings"
)

// needs checks that there is what texts are to be compared by.
func (x *embeddingFlags) needs(over ...string) error {
	if slices.Contains(over, overEmbeddings) && x.model == "" {
		return usagef("--over embeddings needs a model: name it with --embeddings")
	}
	return nil
}

// similarity makes what --over names.
func (x *embeddingFlags) similarity(ctx context.Context, e *env, over string) (selection.Similarity, error) {
	if over == overNGrams {
		return selection.NGrams(), nil
	}
	m, err := x.embedder(ctx, e)
	if err != nil {
		return nil, err
	}
	return selection.Vectors(m), nil
}

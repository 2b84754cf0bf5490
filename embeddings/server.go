package embeddings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/llm"
)

// Client makes one call for embeddings. *llm.Client is one.
type Client interface {
	Embed(ctx context.Context, r llm.EmbedRequest) (llm.EmbedResponse, error)
}

// The defaults of Server.
const (
	DefaultBatch       = 64
	DefaultConcurrency = 4
)

// Server is an Embedder that asks a model server.
type Server struct {
	Client     Client
	Model      string
	Dimensions int // asked of models that can shorten vectors; 0 for the model's own
	Batch      int // texts in a call, default DefaultBatch
	// Concurrency is how many calls are made at a time, default
	// DefaultConcurrency.
	Concurrency int
}

var _ Batched = (*Server)(nil)

// Embed implements Embedder.
func (s *Server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	err := s.EmbedBatches(ctx, texts, func(first int, vectors [][]float32) error {
		copy(out[first:], vectors)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// EmbedBatches implements Batched: a batch is a call. An answer of the wrong
// number of vectors, of vectors of different lengths, or with a number that is
// none is an error.
func (s *Server) EmbedBatches(ctx context.Context, texts []string, yield func(first int, vectors [][]float32) error) error {
	for i, t := range texts {
		if t == "" {
			return fmt.Errorf("text %d of %d is empty, and servers embed no empty text; leave it out", i, len(texts))
		}
	}
	size, calls := s.Batch, s.Concurrency
	if size < 1 {
		size = DefaultBatch
	}
	if calls < 1 {
		calls = DefaultConcurrency
	}
	var mu sync.Mutex
	dimensions := s.Dimensions
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(calls)
	for first := 0; first < len(texts) && working.Err() == nil; first += size {
		part := texts[first:min(first+size, len(texts))]
		g.Go(func() error {
			r, err := s.Client.Embed(working, llm.EmbedRequest{Model: s.Model, Texts: part, Dimensions: s.Dimensions})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if err := check(r.Vectors, len(part), &dimensions); err != nil {
				return fmt.Errorf("embeddings of model %q: %w", s.Model, err)
			}
			return yield(first, r.Vectors)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// check finds what is wrong with an answer. dimensions is what all vectors
// must have, or 0 before the first one.
func check(vectors [][]float32, texts int, dimensions *int) error {
	if len(vectors) != texts {
		return fmt.Errorf("the server gave %d vectors for %d texts", len(vectors), texts)
	}
	for i, v := range vectors {
		if len(v) == 0 {
			return fmt.Errorf("the server gave an empty vector for text %d of the call", i)
		}
		if *dimensions == 0 {
			*dimensions = len(v)
		}
		if len(v) != *dimensions {
			return fmt.Errorf("the server gave a vector of %d dimensions where %d were due", len(v), *dimensions)
		}
		for _, x := range v {
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return errors.New("the server gave a vector with a number that is not finite")
			}
		}
	}
	return nil
}

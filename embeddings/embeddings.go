// Package embeddings turns texts into vectors and measures the distances
// between them.
//
// An [Embedder] gives one vector per text. [Server] asks an
// OpenAI-compatible server; [Cached] stands above it, asks for each text once
// and keeps the vectors in a cache.Store. [Cosine], [Distance], [Distances]
// and [MeanDistance] are plain functions over vectors.
package embeddings

import "context"

// Embedder gives each text a vector. Implementations are safe for concurrent
// use.
type Embedder interface {
	// Embed returns one vector per text, in the order of the texts, all of the
	// same length. Vectors need not have the length 1; they are not to be
	// changed. Texts must not be empty.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Batched is an Embedder that hands vectors over as they come, so that they
// can be stored before all of them are there.
type Batched interface {
	Embedder
	// EmbedBatches calls yield with consecutive vectors, the first of which is
	// that of texts[first]. The calls are made one at a time, in any order. An
	// error of yield ends the work and is returned.
	EmbedBatches(ctx context.Context, texts []string, yield func(first int, vectors [][]float32) error) error
}

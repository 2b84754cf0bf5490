// Package embeddings turns texts into vectors and measures the distances
// between them.
//
// An [Embedder] gives one vector per text. [Model] asks an OpenAI-compatible
// server for each text once and keeps the vectors in a cache.Store. [Distances],
// [MeanDistance] and [Cosines] are plain functions over vectors.
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

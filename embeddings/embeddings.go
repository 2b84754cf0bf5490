// Package embeddings turns texts into vectors and measures the distances
// between them.
//
// An [Embedder] returns one vector per text. [Model] asks an OpenAI-compatible server
// for each text once and keeps the vectors in a cache.Store. [Distances] and [Cosines]
// are plain functions on vectors.
package embeddings

import "context"

// Embedder turns texts into vectors. Implementations must be safe for concurrent use.
type Embedder interface {
	// Embed returns one vector per text, in the order of the texts. All vectors have
	// the same number of dimensions, but not necessarily the norm 1. Callers must not
	// change them. Texts must not be empty.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

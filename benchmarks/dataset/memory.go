package dataset

import (
	"context"
	"iter"

	"github.com/refract-eval/refract"
)

// InMemory is a dataset of segments that are at hand.
type InMemory []*refract.Segment

// Segments implements [refract.Dataset].
func (m InMemory) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for _, s := range m {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

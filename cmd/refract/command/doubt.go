package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/doubt"
	"github.com/refract-eval/refract/embeddings"
)

// weighed is the dataset with the doubt about its variants: by words and vectors
// where a model of vectors is named; else by words, about those that have none.
func (x *embeddingFlags) weighed(ctx context.Context, e *env, ds refract.Dataset) (refract.Dataset, error) {
	embedder, err := x.embedder(ctx, e)
	return dataset.Map(ds, func(ctx context.Context, s *refract.Segment) (*refract.Segment, error) {
		out := *s
		out.Variants = slices.Clone(s.Variants)
		return &out, weigh(ctx, embedder, &out)
	}), err
}

// weigh sets the doubt about the variants of a segment.
func weigh(ctx context.Context, e embeddings.Embedder, s *refract.Segment) error {
	var pairs []doubt.Pair
	var of []*refract.Variant
	for i := range s.Variants {
		v := &s.Variants[i]
		if v.Reference >= len(s.References) || strings.TrimSpace(v.Text.Value) == "" || e == nil && v.Doubt != nil {
			continue
		}
		pairs = append(pairs, doubt.Pair{Reference: s.References[v.Reference].Value, Answer: v.Text.Value})
		of = append(of, v)
	}
	doubts, err := doubt.Measure(ctx, e, pairs)
	if err != nil {
		return fmt.Errorf("segment %s: %w", s.ID, err)
	}
	for i := range doubts {
		of[i].Doubt = &doubts[i]
	}
	return nil
}

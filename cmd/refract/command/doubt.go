package command

import (
	"context"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/measure"
)

// weighed is the dataset with the doubt about variants that have none yet.
func weighed(ds refract.Dataset) refract.Dataset {
	return dataset.Map(ds, func(_ context.Context, s *refract.Segment) (*refract.Segment, error) {
		out := *s
		out.Variants = slices.Clone(s.Variants)
		for i := range out.Variants {
			v := &out.Variants[i]
			if v.Doubt == nil && v.Reference < len(s.References) && strings.TrimSpace(v.Text.Value) != "" {
				v.Doubt = new(measure.Doubt(s.References[v.Reference].Value, v.Text.Value))
			}
		}
		return &out, nil
	})
}

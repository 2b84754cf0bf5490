package refract

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/refract-eval/refract/metrics"
)

// Fit returns the settings with every metrics.Fitter fitted that is not fitted yet. A
// metric is fitted to all present references of the dataset, originals and variants, even
// if the setting uses only some of them. Each such metric takes one pass over the dataset.
func Fit(ctx context.Context, ds Dataset, settings []Setting) ([]Setting, error) {
	out, fitted := slices.Clone(settings), map[metrics.Metric]metrics.Metric{}
	for i, s := range out {
		f, ok := unfitted(s.Metric)
		if !ok {
			continue
		}
		if fitted[f] == nil {
			m, err := f.Fit(ctx, validReferences(ctx, ds))
			if err != nil {
				return nil, fmt.Errorf("fit %s: %w", f.Info().Name, err)
			}
			fitted[f] = m
		}
		out[i].Metric = fitted[f]
	}
	return out, nil
}

// NeedsFit reports whether Fit would fit any metric.
func NeedsFit(settings []Setting) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool { _, ok := unfitted(s.Metric); return ok })
}

func unfitted(m metrics.Metric) (metrics.Fitter, bool) {
	f, ok := m.(metrics.Fitter)
	return f, ok && !f.Fitted()
}

// validReferences yields the texts of the references of each segment.
func validReferences(ctx context.Context, ds Dataset) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		var all []Text
		for seg, err := range ds.Segments(ctx) {
			var texts []string
			if err == nil {
				all = seg.AllReferences(all[:0])
				for _, t := range all {
					if t.Valid {
						texts = append(texts, t.Value)
					}
				}
			}
			if !yield(texts, err) {
				return
			}
		}
	}
}

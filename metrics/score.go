package metrics

import "context"

// ScoreBlocks is Metric.Score for a Preparer. It looks at the context
// between blocks.
func ScoreBlocks(ctx context.Context, p Preparer, blocks []Block) ([]Scores, error) {
	w := p.NewWorkspace()
	out := make([]Scores, len(blocks))
	for i, b := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.Load(b)
		out[i].Values = w.Cells(make([]float64, 0, len(b.Hypotheses)*b.Columns()))
	}
	return out, nil
}

// HasNative reports whether the metric has its own rule for several
// references.
func HasNative(m Metric) bool {
	switch m := m.(type) {
	case NativeScorer:
		return m.HasNative()
	case Preparer:
		_, ok := m.NewWorkspace().(NativeWorkspace)
		return ok
	}
	return false
}

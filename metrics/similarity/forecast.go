package similarity

import (
	"cmp"
	"context"
	"sync"

	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
)

// forecast counts the texts of blocks whose vectors are not stored.
type forecast struct {
	*metric

	mu             sync.Mutex
	seen           map[string]bool
	stored, needed int // distinct texts
	out            metrics.Outlook
}

// Foresee implements metrics.Foreseeing.
func (m *metric) Foresee() metrics.Forecast {
	return &forecast{metric: m, seen: map[string]bool{}, out: metrics.Outlook{Model: m.model.Name}}
}

// Outlook implements metrics.Forecast. Stored counts vectors; a call asks for many. A run
// makes a few more calls than predicted, because each of its batches ends with one.
func (f *forecast) Outlook() metrics.Outlook {
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := cmp.Or(max(0, f.model.Batch), embeddings.DefaultBatch)
	f.out.Stored, f.out.Calls = f.stored, (f.needed+batch-1)/batch
	return f.out
}

// Score makes no call. All cells are Unneeded.
func (f *forecast) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var texts []string
	for _, t := range textsOf(blocks) {
		if !f.seen[t] {
			f.seen[t] = true
			texts = append(texts, t)
		}
	}
	missing, err := f.model.Missing(ctx, texts)
	if err != nil {
		return nil, err
	}
	f.stored += len(texts) - len(missing)
	f.needed += len(missing)
	for _, t := range missing {
		f.out.PromptTokens += llm.EstimateTokens(t)
	}
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		n := len(b.Hypotheses) * b.Columns()
		f.out.Cells += n
		out[i] = metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n)}
		for c := range n {
			out[i].Status[c] = metrics.Unneeded
		}
	}
	return out, nil
}

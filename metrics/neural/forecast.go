package neural

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/refract-eval/refract/metrics"
)

// forecast counts what scoring would send, and sends nothing.
type forecast struct {
	*Metric

	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]bool // texts, by hash
	out  metrics.Outlook
}

// Foresee implements metrics.Foreseeing.
func (m *Metric) Foresee() metrics.Forecast {
	return &forecast{Metric: m, seed: maphash.MakeSeed(), seen: map[uint64]bool{}, out: metrics.Outlook{Model: m.spec.Model}}
}

// Outlook implements metrics.Forecast.
func (f *forecast) Outlook() metrics.Outlook {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out
}

func (f *forecast) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return f.count(blocks, false), nil
}

func (f *forecast) ScoreNative(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return f.count(blocks, true), nil
}

func (f *forecast) count(blocks []metrics.Block, native bool) []metrics.Scores {
	rows := rowsOf(blocks, native)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, part := range parts(rows.all, f.form, int(f.size.Load())) {
		f.out.Calls++
		f.out.Bytes += weight(part, f.form)
		for _, r := range part {
			for t := range r.texts {
				if key := maphash.Comparable(f.seed, t); f.form.wants(t.kind) && !f.seen[key] {
					f.seen[key] = true
					f.out.Texts++
				}
			}
		}
	}
	cells := 0
	out := make([]metrics.Scores, len(rows.at))
	for b, at := range rows.at {
		cells += len(at)
		out[b] = metrics.Scores{Values: make([]float64, len(at)), Status: slices.Repeat([]metrics.Status{metrics.Unneeded}, len(at))}
	}
	f.out.Cells += cells
	f.out.Equal += cells - len(rows.all)
	return out
}

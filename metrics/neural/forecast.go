package neural

import (
	"context"
	"hash/maphash"
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

// Storable implements metrics.Storable: there are no scores.
func (f *forecast) Storable() bool { return false }

// Fitted implements metrics.Fitter: what is counted depends on no weights.
func (f *forecast) Fitted() bool { return true }

func (f *forecast) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return f.count(blocks, cells), nil
}

func (f *forecast) ScoreNeeded(_ context.Context, blocks []metrics.Block, need metrics.Need) ([]metrics.Scores, error) {
	return f.count(blocks, kindOf(need)), nil
}

func (f *forecast) ScoreNative(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return f.count(blocks, native), nil
}

func (f *forecast) count(blocks []metrics.Block, k kind) []metrics.Scores {
	rows := rowsOf(blocks, k)
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
	needed := 0
	for _, at := range rows.at {
		for c := range at {
			if at[c] >= 0 {
				needed++
			}
			at[c] = -1
		}
	}
	f.out.Cells += needed
	f.out.Equal += needed - len(rows.all)
	return rows.place(nil, nil, false)
}

package refract_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// values is a ScoreStore in memory.
type values struct {
	mu  sync.Mutex
	all map[[32]byte][]byte
}

func (v *values) Get(_ context.Context, keys [][32]byte) ([][]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = v.all[k]
	}
	return out, nil
}

func (v *values) Put(_ context.Context, keys [][32]byte, values [][]byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, k := range keys {
		v.all[k] = values[i]
	}
	return nil
}

// dear is a metric whose scores are always stored. Some cells have a report, some no
// score, and some fail once.
type dear struct {
	*fake
	cells atomic.Int64
}

func newDear(source bool) *dear {
	d := &dear{}
	d.fake = sized(source, true)
	d.info.Storable = true
	d.score = func(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
		out := make([]metrics.Scores, len(blocks))
		for i, b := range blocks {
			n := len(b.Hypotheses) * b.Columns()
			d.cells.Add(int64(n))
			out[i] = metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n), Reports: make([]*analysis.Report, n)}
			for h, hyp := range b.Hypotheses {
				for c, ref := range b.References {
					at := h*b.Columns() + c
					out[i].Values[at], out[i].Status[at] = cost(b.Source+hyp, ref)
					if len(ref)%2 == 0 {
						out[i].Reports[at] = &analysis.Report{Outcome: analysis.Unparseable, Raw: &ref}
					}
				}
			}
		}
		return out, nil
	}
	return d
}

// A store changes no score, and no score is computed twice: not for another
// aggregator, a new system, a new reference or another dataset.
func TestStoredScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segs := costlySegments(t)
		source := rapid.Bool().Draw(t, "source")
		for _, s := range segs {
			s.Source = refract.NewText("source")
		}
		store := &values{all: map[[32]byte][]byte{}}
		kept, plain := newDear(source), newDear(source)
		run := func(m metrics.Metric, o refract.Options, segs []*refract.Segment) []*refract.SegmentScores {
			e, err := refract.NewEngine([]refract.Setting{{Metric: m}}, o)
			require.NoError(t, err)
			var out []*refract.SegmentScores
			require.NoError(t, e.Run(context.Background(), list(segs), func(s *refract.SegmentScores) error { out = append(out, s); return nil }))
			return out
		}
		stored := refract.Options{Store: store, Workers: rapid.IntRange(1, 4).Draw(t, "workers"), Batch: rapid.IntRange(1, 9).Draw(t, "batch")}
		for range 3 {

			got, want := run(kept, stored, segs), run(plain, refract.Options{}, segs)
			for i := range want {
				g, w := &got[i].Metrics[0], &want[i].Metrics[0]
				for c := range w.Status {
					if g.Status[c] != w.Status[c] || w.Status[c] == metrics.Scored && math.Float64bits(g.Values[c]) != math.Float64bits(w.Values[c]) {
						t.Fatalf("segment %d, cell %d: %v %v, want %v %v", i, c, g.Values[c], g.Status[c], w.Values[c], w.Status[c])
					}
					if r := w.Reports; r != nil && r[c] != nil && (g.Reports == nil || g.Reports[c] == nil || *g.Reports[c].Raw != *r[c].Raw) {
						t.Fatalf("segment %d, cell %d has not its report", i, c)
					}
				}
			}
			after := kept.cells.Load()
			if run(kept, stored, segs); kept.cells.Load() != after {
				t.Fatalf("a second run asked for %d cells", kept.cells.Load()-after)
			}
			// A new system, and a new reference before the others.
			for i, s := range segs {
				s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: fmt.Sprint("new", len(s.Hypotheses)), Text: refract.NewText(fmt.Sprint("n", i, len(s.Hypotheses)))})
				s.References = append([]refract.Text{refract.NewText(fmt.Sprint("nr", i, len(s.References)))}, s.References...)
			}
			after = kept.cells.Load()
			run(kept, stored, segs)
			fresh := int64(0)
			for _, s := range segs {
				refs, hyps := int64(0), int64(0)
				for _, r := range s.References {
					if r.Valid {
						refs++
					}
				}
				for _, h := range s.Hypotheses {
					if h.Text.Valid {
						hyps++
					}
				}
				fresh += refs + hyps - 1
			}
			require.Equal(t, fresh, kept.cells.Load()-after)
		}
	})
}

// Damaged scores are computed again, with one warning.
func TestDamagedScores(t *testing.T) {
	store := &values{all: map[[32]byte][]byte{}}
	warnings := 0
	m := newDear(false)
	o := refract.Options{Store: store, Warn: func(string) { warnings++ }}
	segs := []*refract.Segment{segment("a", 1, []int{1, 2}, []int{1, 2, 4}), segment("b", 1, []int{3}, []int{5})}
	score := func() {
		_, err := engine(t, o, []metrics.Metric{m}).Score(t.Context(), segs)
		require.NoError(t, err)
	}
	score()
	first := m.cells.Load()
	for key, v := range store.all {
		for i := range v {
			damaged := append([]byte(nil), v...)
			damaged[i] ^= 1 << (i % 8)
			store.all[key] = damaged
			before := m.cells.Load()
			if score(); m.cells.Load() == before {
				t.Fatalf("byte %d of a value is damaged, and nothing is computed anew", i)
			}
			before = m.cells.Load()
			require.Equal(t, 1, warnings, "byte %d: %d warnings", i, warnings)
			warnings = 0
			if score(); m.cells.Load() != before {
				t.Fatalf("byte %d: the value is not repaired", i)
			}
		}
		for n := range v {
			store.all[key] = v[:n]
			score()
		}
		warnings = 0
	}
	assert.True(t, len(store.all) == 3 && first != 0, "%d values", len(store.all))
}

// broken is a store that cannot be read.
type broken struct{ values }

var errStore = errors.New("no disk")

func (b *broken) Get(context.Context, [][32]byte) ([][]byte, error) { return nil, errStore }

func TestStoreFails(t *testing.T) {
	_, err := engine(t, refract.Options{Store: &broken{}}, []metrics.Metric{newDear(false)}).Score(t.Context(), []*refract.Segment{segment("a", 1, []int{1}, []int{1})})
	assert.ErrorIs(t, err, errStore)
}

package correlate

import (
	"math"
	"slices"
	"sync"
)

// known holds what tables with the same gold scores need again and again, as the settings of a
// metric do: a value for each type and number. Each has copies of what it was computed from, so
// that it is never out of date.
type known struct {
	mu   sync.Mutex
	held map[any]any // by a heldKey
}

type heldKey[T any] struct{ number int }

// again returns the held value if it is from the same, and otherwise computes the one to hold. A
// nil known holds nothing.
func again[T any](k *known, number int, same func(T) bool, compute func() T) T {
	if k == nil {
		return compute()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.held[heldKey[T]{number}].(T); ok && same(v) {
		return v
	}
	v := compute()
	k.held[heldKey[T]{number}] = v
	return v
}

// ranking has the dense ranks of scores.
type ranking struct {
	scores   []float64
	ranks    []int32
	distinct int
}

func newRanking(scores []float64) ranking {
	r := ranking{scores: scores}
	r.ranks, r.distinct = denseRanks(scores)
	return r
}

// goldRanks returns the ranking of the gold scores of a vector.
func (k *known) goldRanks(vector int, scores []float64) ranking {
	same := func(r ranking) bool { return slices.Equal(r.scores, scores) }
	return again(k, vector, same, func() ranking { return newRanking(scores) })
}

// goldMeans returns what means with these gold scores share.
func (k *known) goldMeans(c goldCells, systems int) *meanGolds {
	if c.unit == nil {
		k = nil
	}
	same := func(m *meanGolds) bool { return len(m.columns) == systems && m.equal(&c) }
	return again(k, c.groups, same, func() *meanGolds { return newMeanGolds(c, systems) })
}

// mostDraws bounds the weights that are held, a byte each, and mostSoft the p-values, two bytes each.
const mostDraws, mostSoft = 1 << 26, 1 << 26

// draws are the weights of the units in all resamples of a bootstrap, with what follows from them
// and gold scores only.
type draws struct {
	known
	resamples int
	seed      uint64
	pool      []int32
	weights   [][]uint8 // of each resample
}

// drawn returns how often each resample draws each unit, nil if that is too much to hold.
func (k *known) drawn(b Bootstrap, rs *resampler) *draws {
	if k == nil || rs.units == 0 || b.Resamples*rs.units > mostDraws {
		return nil
	}
	same := func(d *draws) bool {
		return d != nil && d.resamples == b.Resamples && d.seed == b.Seed && slices.Equal(d.pool, rs.pool) && len(d.weights[0]) == rs.units
	}
	return again(k, 0, same, func() *draws {
		d := &draws{known: known{held: map[any]any{}}, resamples: b.Resamples, seed: b.Seed, pool: rs.pool}
		for i := range b.Resamples {
			held := make([]uint8, rs.units)
			for u, w := range b.weights(rs, i, i+1)[0] {
				if held[u] = uint8(w); w > math.MaxUint8 {
					return nil
				}
			}
			d.weights = append(d.weights, held)
		}
		return d
	})
}

// block returns the weights in some resamples.
func (d *draws) block(from, to int, s *scratch) [][]int32 {
	units := len(d.weights[0])
	s.weights, s.rows = slices.Grow(s.weights[:0], (to-from)*units), s.rows[:0]
	for _, held := range d.weights[from:to] {
		for _, w := range held {
			s.weights = append(s.weights, int32(w))
		}
		s.rows = append(s.rows, s.weights[len(s.weights)-units:])
	}
	return s.rows
}

// heldGold is what follows from the gold scores of vectors in each draw, or in each block of draws
// with lanes of this width.
type heldGold[T any] struct {
	rows  []Row
	width int
	ofDraws[T]
}

// goldOf returns where to hold it.
func goldOf[T any](d *draws, number int, rows []Row, width int) *ofDraws[T] {
	alike := func(a, b Row) bool { return slices.Equal(a.Gold, b.Gold) && slices.Equal(a.unit, b.unit) }
	same := func(h *heldGold[T]) bool { return h.width == width && slices.EqualFunc(h.rows, rows, alike) }
	return &again(&d.known, number, same, func() *heldGold[T] { return &heldGold[T]{rows: rows, width: width} }).ofDraws
}

// ofDraws holds a value for each draw, by the place of its weights.
type ofDraws[T any] struct{ made sync.Map }

// get computes a value unless it is held; always if d or draw is nil.
func (d *ofDraws[T]) get(draw *uint8, compute func() T) T {
	if d == nil || draw == nil {
		return compute()
	}
	v, _ := d.made.LoadOrStore(draw, sync.OnceValue(compute)) // who comes second waits
	return v.(func() T)()
}

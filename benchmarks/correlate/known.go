package correlate

import (
	"math"
	"slices"
	"sync"
)

// known is what tables with the same gold scores need again and again, as the settings of a
// metric do. It holds copies of what it was computed from, so that it is never out of date.
type known struct {
	mu    sync.Mutex
	gold  map[int]ranking    // of each vector
	means map[int]*meanGolds // of resamples, by number of groups
	draws *draws
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
	if k == nil {
		return newRanking(scores)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if r, ok := k.gold[vector]; ok && slices.Equal(r.scores, scores) {
		return r
	}
	k.gold[vector] = newRanking(scores)
	return k.gold[vector]
}

// goldMeans returns what means with these gold scores share.
func (k *known) goldMeans(c goldCells, systems int) *meanGolds {
	if k == nil || c.unit == nil {
		return newMeanGolds(c, systems)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := k.means[c.groups]; m == nil || len(m.columns) != systems || !m.equal(&c) {
		k.means[c.groups] = newMeanGolds(c, systems)
	}
	return k.means[c.groups]
}

// mostDraws bounds the weights that are held, a byte each, and mostSoft the p-values, two bytes each.
const mostDraws, mostSoft = 1 << 26, 1 << 26

// draws are the weights of the units in all resamples of a bootstrap, with what follows from them
// and gold scores only.
type draws struct {
	resamples int
	seed      uint64
	pool      []int32
	weights   [][]uint8 // of each resample

	mu   sync.Mutex
	tied map[int]*heldTies // of each vector
	soft *heldSoft
}

// heldTies are the [ties.count] of gold scores in all resamples.
type heldTies struct {
	Row
	squares, groups []int64
}

// drawn returns how often each resample draws each unit, nil if that is too much to hold.
func (k *known) drawn(b Bootstrap, rs *resampler) *draws {
	if k == nil || rs.units == 0 || b.Resamples*rs.units > mostDraws {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.draws; d != nil && d.resamples == b.Resamples && d.seed == b.Seed && slices.Equal(d.pool, rs.pool) && len(d.weights[0]) == rs.units {
		return d
	}
	d := &draws{resamples: b.Resamples, seed: b.Seed, pool: rs.pool, tied: map[int]*heldTies{}}
	for i := range b.Resamples {
		held := make([]uint8, rs.units)
		for u, w := range b.weights(rs, i, i+1)[0] {
			if held[u] = uint8(w); w > math.MaxUint8 {
				return nil
			}
		}
		d.weights = append(d.weights, held)
	}
	k.draws = d
	return d
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

// hold returns the ties of the gold scores of a vector in all resamples.
func (d *draws) hold(vector int, of Row, t *ties, width int) *heldTies {
	d.mu.Lock()
	defer d.mu.Unlock()
	if held := d.tied[vector]; held != nil && slices.Equal(held.Gold, of.Gold) && slices.Equal(held.unit, of.unit) {
		return held
	}
	held, b, s, capacity := &heldTies{Row: of}, new(block), new(scratch), laneCapacity(width)
	for from := 0; from < d.resamples; from += capacity {
		to := min(from+capacity, d.resamples)
		var squares, groups [mostOfBlock]int64
		b.pack(d.block(from, to, s), width)
		t.count(b, &squares, &groups)
		held.squares, held.groups = append(held.squares, squares[:to-from]...), append(held.groups, groups[:to-from]...)
	}
	d.tied[vector] = held
	return held
}

// heldSoft are the p-values of gold scores in the resamples.
type heldSoft struct {
	rows []Row
	ofDraws[[]uint16]
}

// softGold returns where to hold the p-values of gold scores, nil if they are too many.
func (d *draws) softGold(rows []Row) *ofDraws[[]uint16] {
	if len(rows)*len(rows)*d.resamples/2 > mostSoft {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	same := func(a, b Row) bool { return slices.Equal(a.Gold, b.Gold) && slices.Equal(a.unit, b.unit) }
	if d.soft == nil || !slices.EqualFunc(d.soft.rows, rows, same) {
		d.soft = &heldSoft{rows: rows}
	}
	return &d.soft.ofDraws
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

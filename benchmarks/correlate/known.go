package correlate

import (
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

// mostDraws bounds the weights that are held, in numbers.
const mostDraws = 1 << 22

// draws are the weights of the units in all resamples of a bootstrap, with what follows from them
// and gold scores only.
type draws struct {
	resamples int
	seed      uint64
	pool      []int32
	weights   [][]int32

	mu   sync.Mutex
	tied map[int]*heldTies // of each vector
	soft *heldSoft
}

// heldTies are the [ties.count] of gold scores in all resamples.
type heldTies struct {
	Row
	squares, groups []int64
}

// drawn returns how often each resample draws each unit, nil if there are too many to hold.
func (k *known) drawn(b Bootstrap, rs *resampler) *draws {
	if k == nil || b.Resamples*rs.units > mostDraws {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.draws; d == nil || d.resamples != b.Resamples || d.seed != b.Seed || !slices.Equal(d.pool, rs.pool) || len(d.weights[0]) != rs.units {
		k.draws = &draws{resamples: b.Resamples, seed: b.Seed, pool: rs.pool, weights: b.weights(rs, 0, b.Resamples), tied: map[int]*heldTies{}}
	}
	return k.draws
}

// hold returns the ties of the gold scores of a vector in all resamples.
func (d *draws) hold(vector int, of Row, t *ties, width int) *heldTies {
	d.mu.Lock()
	defer d.mu.Unlock()
	if held := d.tied[vector]; held != nil && slices.Equal(held.Gold, of.Gold) && slices.Equal(held.unit, of.unit) {
		return held
	}
	held, b := &heldTies{Row: of}, new(block)
	for weights := range slices.Chunk(d.weights, laneCapacity(width)) {
		var squares, groups [mostOfBlock]int64
		b.pack(weights, width)
		t.count(b, &squares, &groups)
		held.squares, held.groups = append(held.squares, squares[:len(weights)]...), append(held.groups, groups[:len(weights)]...)
	}
	d.tied[vector] = held
	return held
}

// heldSoft are the p-values of gold scores in the resamples.
type heldSoft struct {
	rows []Row
	ofDraws[[]float64]
}

// softGold returns where to hold the p-values of gold scores, nil if they are too many.
func (d *draws) softGold(rows []Row) *ofDraws[[]float64] {
	if len(rows)*len(rows)*d.resamples/2 > mostDraws {
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

// get computes a value unless it is held; always if d is nil.
func (d *ofDraws[T]) get(weights []int32, compute func() T) T {
	if d == nil {
		return compute()
	}
	if v, ok := d.made.Load(&weights[0]); ok {
		return v.(T)
	}
	v := compute()
	d.made.Store(&weights[0], v)
	return v
}

package correlate

import (
	"slices"
	"sync"
)

// known is what tables with the same gold scores need again and again, as the settings of a
// metric do. It holds copies of what it was computed from, so that it is never out of date.
type known struct {
	mu    sync.Mutex
	gold  map[int]ranking // of each vector
	draws draws
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

// mostDraws bounds the weights that are held, in numbers.
const mostDraws = 1 << 22

// draws are the weights of the units in all resamples of a bootstrap.
type draws struct {
	resamples int
	seed      uint64
	pool      []int32
	weights   [][]int32
}

// weights returns how often each resample draws each unit, nil if there are too many to hold.
func (k *known) weights(b Bootstrap, rs *resampler) [][]int32 {
	if k == nil || b.Resamples*rs.units > mostDraws {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	d := &k.draws
	if d.resamples != b.Resamples || d.seed != b.Seed || !slices.Equal(d.pool, rs.pool) || len(d.weights[0]) != rs.units {
		*d = draws{b.Resamples, b.Seed, rs.pool, b.weights(rs, 0, b.Resamples)}
	}
	return d.weights
}

package significance

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/numeric"
)

// coverage knows which segments systems have: a set has a byte for each segment, 1 if it is
// present.
type coverage struct {
	of    []string // set of each system
	union string   // of the segments of any system
}

func newCoverage(statistics [][][]float64) *coverage {
	segments := 0
	for _, rows := range statistics {
		segments = max(segments, len(rows))
	}
	c, all := &coverage{}, make([]byte, segments)
	for _, rows := range statistics {
		set := make([]byte, segments)
		for i, row := range rows {
			if row != nil {
				set[i], all[i] = 1, 1
			}
		}
		c.of = append(c.of, string(set))
	}
	c.union = string(all)
	return c
}

// both returns the set of the segments that two systems have.
func (c *coverage) both(a, b int) string {
	set := []byte(c.of[a])
	for i := range set {
		set[i] &= c.of[b][i]
	}
	return string(set)
}

// segmentsOf returns the segments of a set.
func segmentsOf(set string) []int {
	var out []int
	for i := range len(set) {
		if set[i] == 1 {
			out = append(out, i)
		}
	}
	return out
}

// sample holds the statistics of systems over some segments, one row a segment, so that a
// draw adds those of all systems at once.
type sample struct {
	score    func(sums []float64, segments int) float64
	systems  []int
	columns  []columns // of each system
	segments int
	width    int
	rows     []float64
	totals   []float64 // exact sums of the columns
	drawn    func()    // called for each resample
}

// columns are the columns of a system. If it lacks some of the segments, one more column
// counts those that it has.
type columns struct{ from, to, counted int }

func newSample(s *Systems, systems, segments []int) *sample {
	t := &sample{score: s.Score, systems: systems, segments: len(segments), drawn: func() {}}
	for _, system := range systems {
		rows, col := s.Statistics[system], columns{from: t.width, to: t.width, counted: -1}
		lacks := false
		for _, i := range segments {
			if i < len(rows) && rows[i] != nil {
				col.to = col.from + len(rows[i])
			} else {
				lacks = true
			}
		}
		if t.width = col.to; lacks {
			col.counted = t.width
			t.width++
		}
		t.columns = append(t.columns, col)
	}
	t.rows = make([]float64, len(segments)*t.width)
	for k, system := range systems {
		col, rows := t.columns[k], s.Statistics[system]
		for at, i := range segments {
			row := t.row(at)
			if i < len(rows) && rows[i] != nil {
				copy(row[col.from:col.to], rows[i])
				if col.counted >= 0 {
					row[col.counted] = 1
				}
			}
		}
	}
	sums := make([]numeric.Sum, t.width)
	for at := range segments {
		for k, v := range t.row(at) {
			sums[k].Add(v)
		}
	}
	t.totals = make([]float64, t.width)
	for k := range sums {
		t.totals[k] = sums[k].Value()
	}
	return t
}

func (s *sample) row(i int) []float64 { return s.rows[i*s.width : (i+1)*s.width] }

// scoreOf returns the score of the k-th system if the columns of the sample's number of segments
// add up to sums; NaN if it has none of them.
func (s *sample) scoreOf(k int, sums []float64) float64 {
	col, segments := s.columns[k], s.segments
	if col.counted >= 0 {
		segments = int(sums[col.counted])
	}
	if segments == 0 {
		return math.NaN()
	}
	return s.score(sums[col.from:col.to], segments)
}

// position returns the position of a system, and seen its score.
func (s *sample) position(system int) int { return slices.Index(s.systems, system) }
func (s *sample) seen(system int) float64 { return s.scoreOf(s.position(system), s.totals) }

// differing returns the number of segments in which two systems' statistics differ.
func (s *sample) differing(a, b int) int {
	x, y := s.columns[s.position(a)], s.columns[s.position(b)]
	n := 0
	for i := range s.segments {
		if row := s.row(i); !slices.Equal(row[x.from:x.to], row[y.from:y.to]) {
			n++
		}
	}
	return n
}

// bootstrap returns the scores of each system in resamples of the segments, drawn like
// NumPy's default_rng(seed).choice.
func (s *sample) bootstrap(ctx context.Context, resamples int, seed uint64) ([][]float64, error) {
	scores := make([][]float64, len(s.systems))
	for k := range scores {
		scores[k] = make([]float64, resamples)
	}
	random := correlate.NewNumPyRandom(seed)
	err := inOrder(ctx, resamples, s.drawn, func() (draw func(), rest func(resample int)) {
		times, sums := make([]float64, s.segments), make([]float64, s.width)
		draw = func() {
			clear(times)
			for range times {
				times[random.Below(uint32(len(times)))]++
			}
		}
		return draw, func(resample int) {
			clear(sums)
			for i, n := range times {
				if n == 0 {
					continue
				}
				for k, v := range s.row(i) {
					sums[k] += n * v
				}
			}
			for k := range scores {
				scores[k][resample] = s.scoreOf(k, sums)
			}
		}
	})
	return scores, err
}

// exchange sets the p-values of pairs, whose systems have all segments, by trials that
// exchange the two systems' outputs of a segment as NumPy's default_rng(seed).integers(2,
// dtype=bool) says.
func (s *sample) exchange(ctx context.Context, pairs []*testedPair, trials int, seed uint64) error {
	larger, asLarge := make([]atomic.Int64, len(pairs)), make([]atomic.Int64, len(pairs))
	random := &numpyBits{g: correlate.NewNumPyRandom(seed)}
	where := make([][2]int, len(pairs)) // positions of the systems
	for i, p := range pairs {
		where[i] = [2]int{s.position(p.A), s.position(p.B)}
	}
	err := inOrder(ctx, trials, s.drawn, func() (draw func(), rest func(trial int)) {
		mask := make([]uint64, (s.segments+63)/64)
		kept, left := make([]float64, s.width), make([]float64, s.width)
		a, b := make([]float64, s.width), make([]float64, s.width)
		draw = func() { random.fill(mask, s.segments) }
		return draw, func(int) {
			clear(kept)
			for w, word := range mask {
				for ; word != 0; word &= word - 1 {
					for k, v := range s.row(w*64 + bits.TrailingZeros64(word)) {
						kept[k] += v
					}
				}
			}
			for k, total := range s.totals {
				left[k] = total - kept[k]
			}
			for i, p := range pairs {
				x, y := s.columns[where[i][0]], s.columns[where[i][1]]
				width := x.to - x.from
				for k := range width {
					a[k] = kept[x.from+k] + left[y.from+k]
					b[k] = left[x.from+k] + kept[y.from+k]
				}
				difference, seen := math.Abs(s.score(a[:width], s.segments)-s.score(b[:width], s.segments)), math.Abs(p.Delta)
				if above(difference, seen) {
					larger[i].Add(1)
				}
				if !above(seen, difference) {
					asLarge[i].Add(1)
				}
			}
		}
	})
	for i, p := range pairs {
		p.P = share(int(larger[i].Load()), trials)
		p.Decisive = max(share(int(asLarge[i].Load()), trials), p.Least())
	}
	return err
}

// inOrder runs trials on all cores. Each worker has two functions: one draws what a trial
// needs, and is called in the order of trials, one at a time; the other does the rest.
// begun is called for each trial in the same way.
func inOrder(ctx context.Context, trials int, begun func(), worker func() (draw func(), rest func(trial int))) error {
	var mu sync.Mutex
	next := 0
	return correlate.Blocks(ctx, trials, 1, func() func(from, to int) {
		draw, rest := worker()
		return func(int, int) {
			mu.Lock()
			trial := next
			next++
			draw()
			begun()
			mu.Unlock()
			rest(trial)
		}
	})
}

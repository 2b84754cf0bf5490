package correlate

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// permutations is the number of permutations for a p-value.
const permutations = 1000

// softAccuracy is the soft pairwise accuracy of systems, with a vector each, in [0, 1]
// (Thompson et al., 2024, "Improving Statistical Significance in Human Evaluation of
// Automatic Metrics via Soft Pairwise Accuracy"): 1 minus the mean, over pairs of systems,
// of the difference between the gold and the metric p-value that the first system is better
// than the second.
//
// A p-value is the share of random exchanges of the two systems' segment scores whose
// difference is at least the observed one. All pairs share the exchanges, which are
// mt-metrics-eval's. It is undefined if the gold scores are all equal.
func softAccuracy(rows []Row) float64 {
	once := func(Row, int) int32 { return 1 }
	t := &softTable{rows: rows, coins: newCoins()}
	return softOf(t.goldOf(nil, once), t.pValues(t.repeated(rowMetric, once)))
}

func rowGold(r Row) []float64   { return r.Gold }
func rowMetric(r Row) []float64 { return r.Metric }

// softTable holds the segments of several systems. A resample is compared as a separate
// table, in which a segment drawn twice has two exchanges.
type softTable struct {
	rows  []Row
	coins *coins
	gold  *ofDraws[[]float64] // the p-values of the gold scores, nil if the draws are not held
}

// repeated returns the scores of each system, each as often as times says.
func (t *softTable) repeated(scores func(Row) []float64, times func(r Row, i int) int32) [][]float64 {
	out := make([][]float64, len(t.rows))
	for i, r := range t.rows {
		for k, v := range scores(r) {
			for range times(r, k) {
				out[i] = append(out[i], v)
			}
		}
	}
	return out
}

func (t *softTable) weighted(weights []int32, s *scratch) float64 {
	drawn := func(r Row, i int) int32 { return weights[r.unit[i]] }
	return softOf(t.goldOf(s.draw, drawn), t.pValues(t.repeated(rowMetric, drawn)))
}

// goldOf returns the p-values of the gold scores in a resample, nil if these are all equal.
func (t *softTable) goldOf(draw *uint8, drawn func(Row, int) int32) []float64 {
	return t.gold.get(draw, func() (gold []float64) {
		if scores := t.repeated(rowGold, drawn); !allEqual(scores) {
			gold = t.pValues(scores)
		}
		return gold
	})
}

func (t *softTable) pValues(scores [][]float64) []float64 {
	if len(scores) < 2 || len(scores[0]) == 0 {
		return nil
	}
	return pValues(t.coins.masks(len(scores[0])).sums(scores))
}

// allEqual reports whether the scores of all systems are the same, or none.
func allEqual(scores [][]float64) bool {
	return !slices.ContainsFunc(scores, func(s []float64) bool {
		return slices.ContainsFunc(s, func(v float64) bool { return v != scores[0][0] })
	})
}

// softSums are the sums of a system's scores under all permutations.
type softSums struct {
	kept        []float64 // per permutation: kept scores minus exchanged ones
	total, size float64   // of the scores, and of their magnitudes
}

// softExchange computes the soft accuracy of two metrics. The gold scores' p-values are
// computed once, and the sums of the second metric follow from those of the first.
type softExchange struct {
	masks *masks
	gold  []float64  // p-values; nil if the scores are all equal
	both  []softSums // of the scores of both metrics, per system
}

func newSoftExchange(a, b []Row) *softExchange {
	once := func(Row, int) int32 { return 1 }
	x, y := &softTable{rows: a, coins: newCoins()}, &softTable{rows: b}
	e := &softExchange{masks: x.coins.masks(len(a[0].Gold)), gold: x.goldOf(nil, once)}
	e.both = e.masks.sums(x.repeated(rowMetric, once))
	for i, other := range e.masks.sums(y.repeated(rowMetric, once)) {
		for p, v := range other.kept {
			e.both[i].kept[p] += v
		}
		e.both[i].total += other.total
		e.both[i].size += other.size
	}
	return e
}

// values returns the accuracy of one metric's scores, and of the scores left for the other.
func (e *softExchange) values(one []Row) (float64, float64) {
	scores := make([][]float64, len(one))
	for i, r := range one {
		scores[i] = r.Metric
	}
	x, y := e.masks.sums(scores), make([]softSums, len(one))
	for i := range one {
		y[i] = softSums{make([]float64, permutations), e.both[i].total - x[i].total, e.both[i].size}
		for p, v := range e.both[i].kept {
			y[i].kept[p] = v - x[i].kept[p]
		}
	}
	return softOf(e.gold, pValues(x)), softOf(e.gold, pValues(y))
}

// softOf returns the accuracy of all pairs' p-values; NaN without those of gold scores.
func softOf(gold, metric []float64) float64 {
	var sum float64
	for i := range gold {
		sum += math.Abs(gold[i] - metric[i])
	}
	return 1 - sum/float64(len(gold))
}

// completeRows returns one vector per system that has a cell with both scores, with the
// segments that have both scores of all these systems.
func completeRows(p *Pairs) []Row {
	segments, systems, _ := p.complete()
	rows := make([]Row, len(systems))
	for _, seg := range segments {
		for k, sys := range systems {
			i := p.Index(seg, sys)
			rows[k].Gold = append(rows[k].Gold, p.Gold[i])
			rows[k].Metric = append(rows[k].Metric, p.Metric[i])
			rows[k].unit = append(rows[k].unit, int32(i))
		}
	}
	return rows
}

// Complete returns how many segments have both scores of all systems that have any, and how many have
// both of some system. Soft accuracy is of the former.
func (p *Pairs) Complete() (segments, of int) {
	complete, _, of := p.complete()
	return len(complete), of
}

// complete returns these segments, the systems that have any scores, and how many segments have some.
func (p *Pairs) complete() (segments, systems []int, of int) {
	perSystem, perSegment := make([]int, p.Systems), make([]int, p.Segments)
	for seg := range p.Segments {
		for sys := range p.Systems {
			if p.paired(p.Index(seg, sys)) {
				perSystem[sys]++
				perSegment[seg]++
			}
		}
	}
	for sys, n := range perSystem {
		if n > 0 {
			systems = append(systems, sys)
		}
	}
	for seg, n := range perSegment {
		if n > 0 {
			of++
		}
		if n == len(systems) && n > 0 {
			segments = append(segments, seg)
		}
	}
	return segments, systems, of
}

// pValues returns, for each pair of systems in the order (0,1), (0,2), …, the
// p-value of the first being better.
func pValues(systems []softSums) []float64 {
	var out []float64
	for i, a := range systems {
		for _, b := range systems[i+1:] {
			// Sums in another order differ in their last digits, which must not decide whether a
			// difference is as large as the observed one.
			const rounding = 1e-12
			seen := a.total - b.total - rounding*(a.size+b.size)
			count := 0
			other := b.kept[:len(a.kept)]
			for p, v := range a.kept {
				if v-other[p] >= seen {
					count++
				}
			}
			out = append(out, float64(count)/permutations)
		}
	}
	return out
}

// coins are mt-metrics-eval's random bits, which decide exchanges: those of the first permutation
// of all segments, then those of the second.
type coins struct {
	random *NumPyRandom

	mu    sync.Mutex
	words []uint64
	last  *masks
}

func newCoins() *coins { return &coins{random: NewNumPyRandom(4)} }

// masks says for each permutation and segment whether scores are exchanged: one bit a
// segment, eight segments a byte.
type masks struct {
	segments, groups int
	bytes            []uint8 // groups of eight segments × permutations; a multiple of four groups
}

// masks returns the exchanges of so many segments.
func (c *coins) masks(segments int) *masks {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.last.segments == segments {
		return c.last
	}
	for len(c.words) <= permutations*segments/64+1 {
		var word uint64
		for i := range 64 {
			word |= uint64(exchange(c.random)) << i
		}
		c.words = append(c.words, word)
	}
	m := &masks{segments: segments, groups: (segments + 31) / 32 * 4}
	m.bytes = make([]uint8, m.groups*permutations)
	for p := range permutations {
		for i := 0; i < segments; i += 8 {
			at := p*segments + i
			word := c.words[at>>6]>>(at&63) | c.words[at>>6+1]<<(64-at&63)
			m.bytes[i/8*permutations+p] = uint8(word) & uint8(1<<min(8, segments-i)-1)
		}
	}
	c.last = m
	return m
}

// sums returns the sums of the scores of systems.
func (m *masks) sums(scores [][]float64) (out []softSums) {
	for systems := range slices.Chunk(scores, len(eight{})) {
		kept := m.signedSums(systems)
		for i, x := range systems {
			s := softSums{kept: make([]float64, permutations)}
			for p := range kept {
				s.kept[p] = kept[p][i]
			}
			for _, v := range x {
				s.total += v
				s.size += math.Abs(v)
			}
			out = append(out, s)
		}
	}
	return out
}

// eight has a number for each of up to eight systems.
type eight [8]float64

// signedSums returns, per permutation, the sums of the scores whose bit is set minus the sums
// of the others. The sums of each eight scores are computed once for all 256 masks, and four of
// these sums are added at once.
func (m *masks) signedSums(systems [][]float64) []eight {
	out, tables := make([]eight, permutations), new([4][256]eight)
	for g := 0; g < m.groups; g += len(tables) {
		for k := range tables {
			var scores [8]eight // of a group
			for i := range scores {
				for s, x := range systems {
					if at := (g+k)*8 + i; at < len(x) {
						scores[i][s] = x[at]
					}
				}
			}
			table := &tables[k]
			table[0] = eight{}
			for i := range scores {
				for s, v := range scores[i] {
					table[0][s] -= v
				}
			}
			for mask := 1; mask < len(table); mask++ {
				less, v := &table[mask&(mask-1)], &scores[bits.TrailingZeros(uint(mask))]
				for s := range v {
					table[mask][s] = less[s] + 2*v[s]
				}
			}
		}
		of := func(k int) []uint8 { return m.bytes[(g+k)*permutations:][:permutations] }
		first, second, third, fourth := of(0), of(1), of(2), of(3)
		for p := range out {
			a, b, c, d := &tables[0][first[p]], &tables[1][second[p]], &tables[2][third[p]], &tables[3][fourth[p]]
			o := &out[p]
			o[0] = o[0] + a[0] + b[0] + c[0] + d[0]
			o[1] = o[1] + a[1] + b[1] + c[1] + d[1]
			o[2] = o[2] + a[2] + b[2] + c[2] + d[2]
			o[3] = o[3] + a[3] + b[3] + c[3] + d[3]
			o[4] = o[4] + a[4] + b[4] + c[4] + d[4]
			o[5] = o[5] + a[5] + b[5] + c[5] + d[5]
			o[6] = o[6] + a[6] + b[6] + c[6] + d[6]
			o[7] = o[7] + a[7] + b[7] + c[7] + d[7]
		}
	}
	return out
}

// exchange returns the next random bit, which decides an exchange: a number of 24 bits in
// [0, 1), rounded.
func exchange(random *NumPyRandom) uint8 {
	if random.Uint32()>>8 > 1<<23 { // exactly one half rounds to the even 0
		return 1
	}
	return 0
}

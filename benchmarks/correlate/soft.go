package correlate

import (
	"math"
	"math/bits"
	"slices"
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
	gold, metric := make([][]float64, len(rows)), make([][]float64, len(rows))
	for i, r := range rows {
		gold[i], metric[i] = r.Gold, r.Metric
	}
	if len(rows) < 2 || allEqual(gold) {
		return math.NaN()
	}
	return newMasks(len(rows[0].Gold)).accuracy(gold, metric)
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
	e := &softExchange{masks: newMasks(len(a[0].Gold))}
	var gold [][]float64
	for i := range a {
		gold = append(gold, a[i].Gold)
		x, y := e.masks.sums(a[i].Metric), e.masks.sums(b[i].Metric)
		for p, v := range y.kept {
			x.kept[p] += v
		}
		e.both = append(e.both, softSums{x.kept, x.total + y.total, x.size + y.size})
	}
	if !allEqual(gold) {
		e.gold = e.masks.pValues(e.masks.sumsOf(gold))
	}
	return e
}

// values returns the accuracy of one metric's scores, and of the scores left for the other.
func (e *softExchange) values(one []Row) (float64, float64) {
	if e.gold == nil {
		return math.NaN(), math.NaN()
	}
	x, y := make([]softSums, len(one)), make([]softSums, len(one))
	for i, r := range one {
		x[i] = e.masks.sums(r.Metric)
		y[i] = softSums{make([]float64, permutations), e.both[i].total - x[i].total, e.both[i].size}
		for p, v := range e.both[i].kept {
			y[i].kept[p] = v - x[i].kept[p]
		}
	}
	return softOf(e.gold, e.masks.pValues(x)), softOf(e.gold, e.masks.pValues(y))
}

// softOf returns the accuracy of all pairs' p-values.
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
	var rows []Row
	var systems []int
	for sys := range p.Systems {
		for seg := range p.Segments {
			if p.paired(p.Index(seg, sys)) {
				systems = append(systems, sys)
				rows = append(rows, Row{})
				break
			}
		}
	}
segments:
	for seg := range p.Segments {
		for _, sys := range systems {
			if !p.paired(p.Index(seg, sys)) {
				continue segments
			}
		}
		for k, sys := range systems {
			i := p.Index(seg, sys)
			rows[k].Gold = append(rows[k].Gold, p.Gold[i])
			rows[k].Metric = append(rows[k].Metric, p.Metric[i])
			rows[k].unit = append(rows[k].unit, int32(i))
		}
	}
	return rows
}

// masks says for each permutation and segment whether scores are exchanged: one bit a
// segment, eight segments a byte.
type masks struct {
	segments, groups int
	bytes            []uint8 // permutations × groups of eight segments
}

func newMasks(segments int) *masks {
	m := &masks{segments: segments, groups: (segments + 7) / 8}
	m.bytes = make([]uint8, permutations*m.groups)
	random := NewNumPyRandom(4) // mt-metrics-eval's
	for p := range permutations {
		row := m.bytes[p*m.groups : (p+1)*m.groups]
		for i := range segments {
			row[i/8] |= exchange(random) << (i % 8)
		}
	}
	return m
}

// accuracy compares two sets of scores.
func (m *masks) accuracy(gold, metric [][]float64) float64 {
	return softOf(m.pValues(m.sumsOf(gold)), m.pValues(m.sumsOf(metric)))
}

func (m *masks) sumsOf(scores [][]float64) []softSums {
	out := make([]softSums, len(scores))
	for i, x := range scores {
		out[i] = m.sums(x)
	}
	return out
}

func (m *masks) sums(x []float64) softSums {
	out := softSums{kept: m.signedSums(x)}
	for _, v := range x {
		out.total += v
		out.size += math.Abs(v)
	}
	return out
}

// pValues returns, for each pair of systems in the order (0,1), (0,2), …, the
// p-value of the first being better.
func (m *masks) pValues(systems []softSums) []float64 {
	var out []float64
	for i, a := range systems {
		for _, b := range systems[i+1:] {
			// Sums in another order differ in their last digits, which must not decide whether a
			// difference is as large as the observed one.
			const rounding = 1e-12
			seen := a.total - b.total - rounding*(a.size+b.size)
			count := 0
			for p := range permutations {
				if a.kept[p]-b.kept[p] >= seen {
					count++
				}
			}
			out = append(out, float64(count)/permutations)
		}
	}
	return out
}

// signedSums returns, per permutation, the sum of the scores whose bit is set minus the sum
// of the others. The sums of each eight scores are computed once for all 256 masks.
func (m *masks) signedSums(x []float64) []float64 {
	out := make([]float64, permutations)
	var table [256]float64
	for g := range m.groups {
		group := x[g*8 : min(g*8+8, len(x))]
		table[0] = 0
		for _, v := range group {
			table[0] -= v
		}
		for mask := 1; mask < 1<<len(group); mask++ {
			table[mask] = table[mask&(mask-1)] + 2*group[bits.TrailingZeros(uint(mask))]
		}
		for p := range out {
			out[p] += table[m.bytes[p*m.groups+g]]
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

// softRow holds the segments of several systems. A resample is compared as a separate
// table, in which a segment drawn twice has two exchanges.
type softRow struct {
	rows  []Row
	masks *masks
}

func newSoftRow(rows []Row) *softRow {
	r := &softRow{rows: rows}
	if len(rows) > 0 {
		r.masks = newMasks(len(rows[0].Gold))
	}
	return r
}

func (r *softRow) weighted(weights []int32, _ *scratch) float64 {
	if len(r.rows) < 2 {
		return math.NaN()
	}
	gold, metric := make([][]float64, len(r.rows)), make([][]float64, len(r.rows))
	for i, row := range r.rows {
		for k, u := range row.unit {
			for range weights[u] {
				gold[i] = append(gold[i], row.Gold[k])
				metric[i] = append(metric[i], row.Metric[k])
			}
		}
	}
	n := len(gold[0])
	if allEqual(gold) {
		return math.NaN()
	}
	m := r.masks
	if m == nil || m.segments != n {
		m = newMasks(n)
	}
	return m.accuracy(gold, metric)
}

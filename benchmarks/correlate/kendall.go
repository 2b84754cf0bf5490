package correlate

import "math"

// Kendall returns Kendall's tau-b of two aligned vectors of finite numbers, in
// [-1, 1]: concordant minus discordant pairs over the geometric mean of the
// numbers of pairs that are not tied in x and not tied in y (Kendall, 1945,
// "The treatment of ties in ranking problems").
//
// It is NaN for fewer than two elements, for a constant vector, and where an
// element is NaN. It takes O(n log n) time, and the pairs are counted in
// integers. It panics if the lengths differ.
func Kendall(x, y []float64) float64 {
	checkLengths(x, y)
	if len(x) < 2 || hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	return newKendallRow(x, y, make([]int32, len(x))).weighted([]int32{1}, new(scratch))
}

// kendallRow holds two vectors in the order of one of them, the outer one, so
// that tau-b under any weights of the segments needs no sorting. The other,
// inner one is the one with fewer distinct values: its ranks index the
// Fenwick tree, and human scores have few.
type kendallRow struct {
	segment []int32 // of each element, in outer order
	inner   []int32 // rank of each element in the inner vector, from 1
	ends    []int32 // where each run of equal outer values ends
	ranks   int     // number of distinct inner values
}

func newKendallRow(x, y []float64, segment []int32) *kendallRow {
	outer, distinctOuter := denseRanks(x)
	inner, distinctInner := denseRanks(y)
	if distinctInner > distinctOuter {
		outer, inner = inner, outer
		distinctOuter, distinctInner = distinctInner, distinctOuter
	}
	k := &kendallRow{ranks: distinctInner, ends: make([]int32, distinctOuter)}
	for _, r := range outer {
		k.ends[r]++
	}
	next := make([]int32, distinctOuter)
	var sum int32
	for r, count := range k.ends {
		next[r] = sum
		sum += count
		k.ends[r] = sum
	}
	k.segment = make([]int32, len(outer))
	k.inner = make([]int32, len(outer))
	for i, r := range outer {
		at := next[r]
		next[r]++
		k.segment[at] = segment[i]
		k.inner[at] = inner[i] + 1
	}
	return k
}

// weighted returns tau-b of the vectors in which each element of segment s is
// present weights[s] times. It takes O(n log d) time with d distinct inner
// values.
func (k *kendallRow) weighted(weights []int32, s *scratch) float64 {
	// tree is a Fenwick tree over the inner ranks of the elements in earlier
	// runs; counts has the same numbers one by one.
	tree, counts := s.integers(k.ranks + 1)
	var (
		seen       int64 // elements in earlier runs
		difference int64 // concordant minus discordant pairs
		outerTies  int64 // pairs tied in the outer vector
		start      int
	)
	for _, end := range k.ends {
		segment, inner := k.segment[start:end], k.inner[start:end]
		start = int(end)
		var run int64
		for i, seg := range segment {
			w := int64(weights[seg])
			if w == 0 {
				continue
			}
			run += w
			rank := int(inner[i])
			var below int64
			for r := rank - 1; r > 0; r &= r - 1 {
				below += tree[r]
			}
			above := seen - below - counts[rank]
			difference += w * (below - above)
		}
		if run == 0 {
			continue
		}
		for i, seg := range segment {
			w := int64(weights[seg])
			if w == 0 {
				continue
			}
			rank := int(inner[i])
			counts[rank] += w
			for r := rank; r < len(tree); r += r & -r {
				tree[r] += w
			}
		}
		seen += run
		outerTies += run * (run - 1) / 2
	}
	var innerTies int64
	for _, c := range counts {
		innerTies += c * (c - 1) / 2
	}
	total := seen * (seen - 1) / 2
	if outerTies == total || innerTies == total { // also true of fewer than two elements
		return math.NaN()
	}
	tau := float64(difference) / math.Sqrt(float64(total-outerTies)) / math.Sqrt(float64(total-innerTies))
	return clamp(tau)
}

// clamp takes back the last digit by which rounding can leave [-1, 1].
func clamp(r float64) float64 {
	return min(1, max(-1, r))
}

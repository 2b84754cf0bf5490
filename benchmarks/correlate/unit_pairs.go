package correlate

import "slices"

// unitPairs counts pairs of elements by unit, twice if both scores order them alike and once if they
// are tied in the inner score only: row u has the pairs of an element of unit u with one of each
// unit up to u. The weights of a resample never change these counts, so their sum is a quadratic
// form of the weights. Two counts share a word if their sums fit in 32 bits. It is nil if a pass
// over the elements is cheaper, as for units of one segment.
type unitPairs struct {
	rows [][]uint64
	bits int // of a count
}

// newUnitPairs takes elements by rising outer score, and where its equal scores end. For
// each rank of the inner score it keeps how many elements of each unit are below in both, twice,
// and how many have the rank. No resample draws more than most units.
func newUnitPairs(elements []pairsElement, ends []int32, sizes []int64, ranks, most int) *unitPairs {
	n, steps := len(sizes), 0
	for _, e := range elements {
		steps += ranks - int(e.rank)
	}
	if n == 0 || n*n > 8*len(elements) || steps > 256*len(elements) {
		return nil
	}
	size := int(slices.Max(sizes))
	if size >= 1<<15 { // twice the product of two sizes has to fit
		return nil
	}
	// Four numbers share a word. The sums of a unit go to its counts before they are too large.
	const lane, perWord = 16, 4
	words, fit := (n+perWord-1)/perWord, (1<<lane-1)/(2*size)
	below, sums, added := make([]uint64, ranks*words), make([]uint64, n*words), make([]int, n)
	width := words * perWord
	counts := make([]uint32, n*width)
	move := func(u int) {
		to := counts[u*width:][:width]
		for i, sum := range sums[u*words:][:words] {
			for v := range perWord {
				to[i*perWord+v] += uint32(sum >> (v * lane) & (1<<lane - 1))
			}
		}
		clear(sums[u*words:][:words])
		added[u] = 0
	}
	start := int32(0)
	for _, end := range ends {
		for _, e := range elements[start:end] {
			if added[e.unit] == fit {
				move(int(e.unit))
			}
			added[e.unit]++
			sum := sums[int(e.unit)*words:][:words]
			for i, c := range below[int(e.rank)*words:][:words] {
				sum[i] += c
			}
		}
		for _, e := range elements[start:end] {
			one, at := uint64(1)<<(e.unit%perWord*lane), int(e.rank)*words+int(e.unit/perWord)
			below[at] += one
			for at += words; at < len(below); at += words {
				below[at] += 2 * one
			}
		}
		start = end
	}
	largest := uint64(0)
	for u := range n {
		move(u)
		for v := range u {
			counts[u*width+v] += counts[v*width+u]
		}
		largest = max(largest, uint64(slices.Max(counts[u*width:][:u+1])))
	}
	out := &unitPairs{bits: 32}
	if largest*uint64(most) >= 1<<32 {
		out.bits = 64
	}
	words = (n*out.bits + 63) / 64
	packed := make([]uint64, n*words)
	for u := range n {
		row := packed[u*words:][:words]
		for v, c := range counts[u*width:][:u+1] {
			at := v * out.bits
			row[at>>6] |= uint64(c) << (at & 63)
		}
		out.rows = append(out.rows, row[:u*out.bits>>6+1])
	}
	return out
}

// sum is the sum of the counts in a resample.
func (p *unitPairs) sum(weights []int32, s *scratch) (sum int64) {
	s.counts = zeros(s.counts, len(p.rows[len(p.rows)-1]))
	addRows(s.counts, p.rows, weights, s)
	for u, w := range weights[:len(p.rows)] {
		at := u * p.bits
		sum += int64(w) * int64(s.counts[at>>6]>>(at&63)&(1<<p.bits-1))
	}
	return sum
}

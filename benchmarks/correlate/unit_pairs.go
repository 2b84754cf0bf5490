package correlate

import "slices"

// unitPairs counts pairs of elements by unit, twice if both scores order them alike and once if they
// are tied in the inner score only: row u has the pairs of an element of unit u with one of each
// unit up to u. The weights of a resample never change these counts, so their sum is a quadratic
// form of the weights. Two counts share a number if their sums fit in half of its digits. It is nil if
// a pass over the elements is cheaper, as for units of one segment.
type unitPairs struct {
	rows [][]float64
	per  int // counts in a number
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
	out := &unitPairs{per: 1}
	if largest*uint64(most) < halfDigits {
		out.per = 2
	}
	words = (n + out.per - 1) / out.per
	packed := make([]float64, n*words)
	for u := range n {
		row := packed[u*words:][:words]
		for v, c := range counts[u*width:][:u+1] {
			row[v/out.per] += float64(c) * float64(1+v%out.per*(halfDigits-1))
		}
		out.rows = append(out.rows, row[:u/out.per+1])
	}
	return out
}

// halfDigits is above the numbers of which a float64 holds two.
const halfDigits = 1 << 26

// sum is the sum of the counts in a resample.
func (p *unitPairs) sum(weights []int32, s *scratch) (sum int64) {
	s.x = zeros(s.x, len(p.rows[len(p.rows)-1]))
	addRows(s.x, p.rows, weights, s)
	for i, v := range s.x {
		if p.per == 1 {
			sum += int64(weights[i]) * int64(v)
			continue
		}
		sum += int64(weights[2*i]) * (int64(v) % halfDigits)
		if 2*i+1 < len(p.rows) {
			sum += int64(weights[2*i+1]) * (int64(v) / halfDigits)
		}
	}
	return sum
}

package ter

import (
	"math"
	"slices"
)

// beamWidth is the minimum number of columns on each side of the diagonal.
const beamWidth = 25

// unreachable is a distance far above any other, with room to add to it.
const unreachable = math.MaxInt32 / 2

// beam is the edit distance matrix of a hypothesis (rows) and a reference (columns),
// restricted to cells near the diagonal. Cell (i, j) of prefix is the distance between the
// first i words of the hypothesis and the first j of the reference. Suffix is the same from
// the ends of both texts, with the columns of a row in reverse.
//
// The diagonal goes from corner to corner, so which cells exist depends only on the two
// lengths, and moving words does not change it.
type beam struct {
	ref, back      []int32 // back is the reference from its end
	spans          []span
	prefix, suffix []int32
	scratch        [2][]int32
}

// span says which columns of a row exist, from lo to hi-1, and where they are
// stored.
type span struct{ lo, hi, at int }

// row is a part of a row of the matrix: the cells from column lo.
type row struct {
	lo    int
	cells []int32
}

func (r row) hi() int { return r.lo + len(r.cells) }

// reset lays out the matrix for a hypothesis of n words and a reference, neither empty.
//
// It follows sacreBLEU, including its float arithmetic: if one text is so much longer that
// the beams of two rows would not meet, the beam is widened.
func (b *beam) reset(n int, ref []int32) {
	m := len(ref)
	ratio := float64(m) / float64(n)
	width := beamWidth
	if ratio/2 > beamWidth {
		width = int(math.Ceil(ratio/2 + beamWidth))
	}
	b.ref, b.back = ref, append(b.back[:0], ref...)
	slices.Reverse(b.back)
	b.spans = append(b.spans[:0], span{lo: 0, hi: m + 1})
	at := m + 1
	for i := 1; i <= n; i++ {
		diagonal := int(math.Floor(float64(i) * ratio))
		s := span{lo: max(0, diagonal-width), hi: min(m+1, diagonal+width), at: at}
		if i == n {
			s.hi = m + 1
		}
		b.spans = append(b.spans, s)
		at += s.hi - s.lo
	}
	b.prefix = resize(b.prefix, at)
	b.suffix = resize(b.suffix, at)
	for k := range b.scratch {
		b.scratch[k] = resize(b.scratch[k], m+1)
	}
	for _, begin := range []row{b.row(0), b.rest(n)} {
		for j := range begin.cells {
			begin.cells[j] = int32(j)
		}
	}
}

// resize returns a slice of n elements with arbitrary values.
func resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/2)
	}
	return s[:n]
}

// row returns a row of prefix.
func (b *beam) row(i int) row {
	s := b.spans[i]
	return row{s.lo, b.prefix[s.at : s.at+s.hi-s.lo]}
}

// rest returns a row of suffix. Its columns count words from the end of the reference.
func (b *beam) rest(i int) row {
	s := b.spans[i]
	return row{len(b.ref) + 1 - s.hi, b.suffix[s.at : s.at+s.hi-s.lo]}
}

// distance is the edit distance of the two texts. prefix must have been computed.
func (b *beam) distance() int { return int(b.prefix[len(b.prefix)-1]) }

// computePrefixes computes the rows of prefix below row from.
func (b *beam) computePrefixes(words []int32, from int) {
	for i := from + 1; i <= len(words); i++ {
		b.next(b.row(i), b.row(i-1), words[i-1], b.ref)
	}
}

// computeSuffixes computes the rows of suffix above row from, up to row to.
func (b *beam) computeSuffixes(words []int32, from, to int) {
	for i := from - 1; i >= to; i-- {
		b.next(b.rest(i), b.rest(i+1), words[i], b.back)
	}
}

// next computes a row from the one above it. word is the word of the hypothesis between the
// two, and reference is read in the same direction. Neither end of the row lies before that
// of the row above, and the two rows touch at least diagonally.
func (b *beam) next(here, above row, word int32, reference []int32) {
	lo, hi := here.lo, here.hi()
	j, left := lo, int32(unreachable)
	if lo == above.lo { // nothing to the left, in this row or above
		left = above.cells[0] + 1
		here.cells[0] = left
		j++
	}

	// Columns that exist in both rows.
	both := above.cells[j-above.lo:]
	both = both[:min(hi, above.hi())-j]
	diagonal := above.cells[j-1-above.lo]
	ref := reference[j-1:][:len(both)]
	out := here.cells[j-lo:][:len(both)]
	for k, up := range both {
		best := diagonal
		if ref[k] != word {
			best++
		}
		best = min(best, up+1, left+1)
		out[k] = best
		left, diagonal = best, up
	}

	// Columns beyond the row above: the first has a diagonal neighbour, the others have none.
	for j += len(both); j < hi; j++ {
		best := left + 1
		if j == above.hi() {
			if reference[j-1] != word {
				diagonal++
			}
			best = min(best, diagonal)
		}
		here.cells[j-lo] = best
		left = best
	}
}

// moved returns the edit distance after a move if it is at most limit, and otherwise
// anything above limit.
//
// The rows up to the first word that the move touches are known, and so are those after the
// last one. Only the rows between are computed; the shortest path crosses the last of them
// somewhere. A path through cell (i, j) costs at least the difference of the two lengths
// before the cell plus the difference after it, so columns where this sum exceeds the limit
// are skipped.
func (b *beam) moved(words []int32, m move, limit int) int {
	longer := len(b.ref) - len(words)
	margin := limit - max(longer, -longer)
	if margin < 0 {
		return unreachable
	}
	margin /= 2
	lo, hi := min(0, longer)-margin, max(0, longer)+margin+1 // relative to the row
	window := func(i int) (int, int) {
		return max(b.spans[i].lo, i+lo), min(b.spans[i].hi, i+hi)
	}

	i := m.from
	above := b.row(i)
	from, to := window(i)
	above = row{from, above.cells[from-above.lo : to-above.lo]}
	cells, spare := b.scratch[0], b.scratch[1]
	for _, part := range [2][]int32{words[m.mid:m.to], words[m.from:m.mid]} {
		for _, word := range part {
			i++
			from, to := window(i)
			here := row{from, cells[:to-from]}
			b.next(here, above, word, b.ref)
			above = here
			cells, spare = spare, cells
		}
	}
	below := b.rest(i)
	least, last := int32(unreachable), len(b.ref)-above.lo-below.lo
	for k, d := range above.cells {
		least = min(least, d+below.cells[last-k])
	}
	return int(least)
}

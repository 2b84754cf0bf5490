package ter

import "math"

// beamWidth is how many columns the beam reaches to each side of the
// diagonal, at least.
const beamWidth = 25

// unreachable is a distance far above any other, with room to add to it.
const unreachable = math.MaxInt32 / 2

// beam is the edit distance matrix of a hypothesis (rows) and a reference
// (columns), where only cells near the diagonal exist. Cell (i, j) of prefix
// is the distance of the first i words of the hypothesis to the first j of
// the reference; in suffix it is that of the words from i to those from j.
//
// The diagonal goes from corner to corner, so which cells exist depends on
// the two lengths and not on the words, and moving words keeps them.
type beam struct {
	ref            []int32
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

// reset lays out the matrix for two texts, the hypothesis of n words. None is
// empty.
//
// It follows sacreBLEU, with its float arithmetic: if one text is so much
// longer that the beams of two rows would not meet, the beam is widened.
func (b *beam) reset(n int, ref []int32) {
	m := len(ref)
	ratio := float64(m) / float64(n)
	width := beamWidth
	if ratio/2 > beamWidth {
		width = int(math.Ceil(ratio/2 + beamWidth))
	}
	b.ref = ref
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
	for j := range m + 1 {
		b.prefix[j] = int32(j)
	}
	last := b.row(b.suffix, n)
	for k := range last.cells {
		last.cells[k] = int32(len(last.cells) - 1 - k)
	}
}

// resize returns a slice of n elements, whose values are arbitrary.
func resize(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/2)
	}
	return s[:n]
}

func (b *beam) row(matrix []int32, i int) row {
	s := b.spans[i]
	return row{s.lo, matrix[s.at : s.at+s.hi-s.lo]}
}

// distance is the edit distance of the two texts, once prefix is computed.
func (b *beam) distance() int { return int(b.prefix[len(b.prefix)-1]) }

// computePrefixes computes the rows of prefix below row from.
func (b *beam) computePrefixes(words []int32, from int) {
	for i := from + 1; i <= len(words); i++ {
		b.next(b.row(b.prefix, i), b.row(b.prefix, i-1), words[i-1])
	}
}

// computeSuffixes computes the rows of suffix above row from, up to row to.
func (b *beam) computeSuffixes(words []int32, from, to int) {
	for i := from - 1; i >= to; i-- {
		b.previous(b.row(b.suffix, i), b.row(b.suffix, i+1), words[i])
	}
}

// next computes a row of prefix from the one above it, where word is the word
// of the hypothesis between the two. Neither end of the row lies before that
// of the row above, and the two meet at least diagonally.
func (b *beam) next(here, above row, word int32) {
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
	ref := b.ref[j-1:][:len(both)]
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

	// Columns beyond the row above: one has a diagonal, the others do not.
	for j += len(both); j < hi; j++ {
		best := left + 1
		if j == above.hi() {
			if b.ref[j-1] != word {
				diagonal++
			}
			best = min(best, diagonal)
		}
		here.cells[j-lo] = best
		left = best
	}
}

// previous computes a row of suffix from the one below it, where word is the
// word of the hypothesis between the two.
func (b *beam) previous(here, below row, word int32) {
	lo, hi := here.lo, here.hi()
	j, right := hi-1, int32(unreachable)
	if hi == below.hi() { // nothing to the right, in this row or below
		right = below.cells[j-below.lo] + 1
		here.cells[j-lo] = right
		j--
	}

	// Columns that exist in both rows.
	if from := max(lo, below.lo); j >= from {
		both := below.cells[from-below.lo : j+1-below.lo]
		ref := b.ref[from:][:len(both)]
		out := here.cells[from-lo:][:len(both)]
		diagonal := below.cells[j+1-below.lo]
		for k := len(both) - 1; k >= 0; k-- {
			down := both[k]
			best := diagonal
			if ref[k] != word {
				best++
			}
			best = min(best, down+1, right+1)
			out[k] = best
			right, diagonal = best, down
		}
		j = from - 1
	}

	// Columns before the row below: one has a diagonal, the others do not.
	for ; j >= lo; j-- {
		best := right + 1
		if j+1 == below.lo {
			diagonal := below.cells[0]
			if b.ref[j] != word {
				diagonal++
			}
			best = min(best, diagonal)
		}
		here.cells[j-lo] = best
		right = best
	}
}

// moved returns the edit distance after a move if it is at most limit, and
// otherwise anything above limit.
//
// The rows up to the first word that the move touches and those from behind
// the last one are known, so only the rows between are computed; the shortest
// path crosses the last of them somewhere. A path through cell (i, j) costs
// at least the difference of the two lengths before the cell and that after
// it, so columns where these exceed the limit are left out.
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
	above := b.row(b.prefix, i)
	from, to := window(i)
	above = row{from, above.cells[from-above.lo : to-above.lo]}
	cells, spare := b.scratch[0], b.scratch[1]
	for _, part := range [2][]int32{words[m.mid:m.to], words[m.from:m.mid]} {
		for _, word := range part {
			i++
			from, to := window(i)
			here := row{from, cells[:to-from]}
			b.next(here, above, word)
			above = here
			cells, spare = spare, cells
		}
	}
	below := b.row(b.suffix, i)
	rest := below.cells[above.lo-below.lo:][:len(above.cells)]
	least := int32(unreachable)
	for k, d := range above.cells {
		least = min(least, d+rest[k])
	}
	return int(least)
}

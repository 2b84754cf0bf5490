package correlate

// unitPairs counts the pairs of elements that both scores order alike, by unit: row u has
// the pairs of an element of unit u with one of each unit up to u. The weights of a
// resample never change these counts, so its concordant pairs are a quadratic form of the
// weights. It is nil if a pass over the elements is cheaper, as for units of one segment.
type unitPairs [][]uint32

// newUnitPairs takes elements by rising outer score, and where its equal scores end. For
// each rank of the inner score it keeps how many elements of each unit are below in both.
func newUnitPairs(elements []pairsElement, ends []int32, units []pairsUnit, ranks int) unitPairs {
	n, steps := len(units), 0
	for _, e := range elements {
		steps += ranks - int(e.rank)
	}
	if n*n > 8*len(elements) || steps > 256*len(elements) {
		return nil
	}
	for u := range units {
		if units[u].size >= 1<<16 { // the product of two sizes has to fit
			return nil
		}
	}
	// Counts of two units share a word.
	words := (n + 1) / 2
	below, sums := make([]uint64, ranks*words), make([]uint64, n*words)
	start := int32(0)
	for _, end := range ends {
		for _, e := range elements[start:end] {
			sum := sums[int(e.unit)*words:][:words]
			for i, c := range below[int(e.rank)*words:][:words] {
				sum[i] += c
			}
		}
		for _, e := range elements[start:end] {
			one := uint64(1) << (e.unit & 1 * 32)
			for at := (int(e.rank)+1)*words + int(e.unit>>1); at < len(below); at += words {
				below[at] += one
			}
		}
		start = end
	}
	count := func(u, v int) uint32 { return uint32(sums[u*words+v>>1] >> (v & 1 * 32)) }
	out := make(unitPairs, n)
	for u := range out {
		out[u] = make([]uint32, u+1)
		for v := range u {
			out[u][v] = count(u, v) + count(v, u)
		}
		out[u][u] = count(u, u)
	}
	return out
}

// times computes, per unit, the pairs of one of its elements with the elements of a block.
func (p unitPairs) times(units, to []lanes) {
	for u, row := range p {
		for at := 0; at < wordsOfBlock; at += 4 {
			var s0, s1, s2, s3 uint64
			for v, n := range row {
				w, n := units[v][at:at+4:at+4], uint64(n)
				s0 += n * w[0]
				s1 += n * w[1]
				s2 += n * w[2]
				s3 += n * w[3]
			}
			copy(to[u][at:], []uint64{s0, s1, s2, s3})
		}
	}
}

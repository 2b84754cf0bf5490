package ter

// index finds the positions of a word in the reference, in ascending order.
type index struct {
	ref   []int32
	heads []int32 // per word: its first position not yet skipped, or none
	nexts []int32 // per position: the next one of the same word, or none
}

// reset indexes a reference whose words are numbers below size.
func (x *index) reset(ref []int32, size int) {
	for _, w := range x.ref {
		x.heads[w] = none
	}
	for len(x.heads) < size {
		x.heads = append(x.heads, none)
	}
	x.nexts = resize(x.nexts, len(ref))
	x.ref = append(x.ref[:0], ref...)
	x.rewind()
}

// rewind makes the skipped positions available again.
func (x *index) rewind() {
	for _, w := range x.ref {
		x.heads[w] = none
	}
	for j := len(x.ref) - 1; j >= 0; j-- {
		w := x.ref[j]
		x.nexts[j] = x.heads[w]
		x.heads[w] = int32(j)
	}
}

// first returns the first position of word at or after from, or none. It skips earlier ones
// for good, so from must not decrease until the next rewind.
func (x *index) first(word int32, from int) int {
	p := x.heads[word]
	for p != none && int(p) < from {
		p = x.nexts[p]
	}
	x.heads[word] = p
	return int(p)
}

// after returns the next position of the word at position p, or none.
func (x *index) after(p int) int { return int(x.nexts[p]) }

// common returns how many words the texts have in common, counting a repeated word as often
// as both texts have it. It needs a rewind before and after.
func (x *index) common(words []int32) int {
	n := 0
	for _, w := range words {
		if p := x.heads[w]; p != none {
			x.heads[w] = x.nexts[p]
			n++
		}
	}
	return n
}

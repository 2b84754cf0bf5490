package ter

// index finds the positions of a word in the reference, in ascending order.
type index struct {
	ref   []int32
	heads []int32 // per word: its first position not yet skipped, or none
	nexts []int32 // per position: the next one of the same word, or none
}

// reset indexes a reference whose words are numbers below size.
func (i *index) reset(ref []int32, size int) {
	for _, w := range i.ref {
		i.heads[w] = none
	}
	for len(i.heads) < size {
		i.heads = append(i.heads, none)
	}
	i.nexts = resize(i.nexts, len(ref))
	i.ref = append(i.ref[:0], ref...)
	i.rewind()
}

// rewind makes the skipped positions available again.
func (i *index) rewind() {
	for _, w := range i.ref {
		i.heads[w] = none
	}
	for j := len(i.ref) - 1; j >= 0; j-- {
		w := i.ref[j]
		i.nexts[j] = i.heads[w]
		i.heads[w] = int32(j)
	}
}

// first returns the first position of word at or after from, or none. It skips earlier ones
// for good, so from must not decrease until the next rewind.
func (i *index) first(word int32, from int) int {
	p := i.heads[word]
	for p != none && int(p) < from {
		p = i.nexts[p]
	}
	i.heads[word] = p
	return int(p)
}

// after returns the next position of the word at position p, or none.
func (i *index) after(p int) int { return int(i.nexts[p]) }

// common returns how many words the texts have in common, counting a repeated word as often
// as both texts have it. It needs a rewind before and after.
func (i *index) common(words []int32) int {
	n := 0
	for _, w := range words {
		if p := i.heads[w]; p != none {
			i.heads[w] = i.nexts[p]
			n++
		}
	}
	return n
}

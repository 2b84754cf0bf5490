// Package ngram counts the n-grams that texts share, for all pairs of the hypotheses and
// references of one segment at once.
//
// For BLEU and chrF, the number of matches of an order is the sum over distinct n-grams of
// min(count in the hypothesis, count in the reference). Label the k-th occurrence of n-gram
// g in a text (g, k): that sum is then the size of the intersection of two sets of labels.
// So the index gives each label that occurs in a reference one bit, a text becomes a bit
// set, and a pair costs one AND and one population count for 64 labels. BLEU's clipping
// against several references (the maximum of their counts) is the union of their sets.
//
// The n-grams of the references form a trie with suffix links. A text is read once, from
// left to right: the node of the longest n-gram that ends at a token knows the labels of
// all shorter n-grams that end there. Texts of one segment share long spans, so a node keeps
// its first child, and the hash table is needed only for further ones. A hypothesis walks
// the trie as an Aho–Corasick automaton and adds nothing to it, since n-grams of no
// reference cannot match.
package ngram

import "math/bits"

// MaxOrder is the longest n-gram that an Index can hold.
const MaxOrder = 64

// Index holds the texts of one segment: first its references, then, after Seal, its
// hypotheses. Reset prepares it for the next segment and keeps its memory.
type Index struct {
	order  int
	nodes  []node
	roots  [rootTokens]int32 // children of the root for the smallest tokens
	table  []edge            // children beyond a node's first
	shift  uint
	used   int
	blocks []int32 // labels of first occurrences

	stamp  uint32          // of the text being read
	next   []int32         // label of the next occurrence of the same n-gram, by label, 0 for none yet
	latest []latest        // by the label of a first occurrence
	words  []uint8         // order of each word of the label space
	free   [MaxOrder]int32 // next free label of an order, a multiple of 64 when its word is full
	set    []uint64        // of the text being read, by word of the label space
	dirty  []int32         // words of set that are not 0

	remap  []int32           // word of the label space -> word of a packed set
	offset [MaxOrder + 1]int // words [offset[n-1], offset[n]) of a packed set hold order n
	parts  []part            // of the references, in order
	ends   []int             // where each reference ends in parts
	sparse bool              // whether references are kept as parts instead of packed sets
	refs   []uint64
	union  []uint64
	hyps   []uint64
	sealed bool
	nHyps  int
}

// part is one word of a set.
type part struct {
	word int32
	bits uint64
}

// latest is the latest occurrence of an n-gram in a text.
type latest struct {
	label int32
	stamp uint32 // of the text
}

// New returns an index for n-grams of orders 1 to order, at most MaxOrder.
func New(order int) *Index {
	if order < 0 || order > MaxOrder {
		panic("ngram: order out of range")
	}
	x := &Index{order: order}
	x.grow(1 << 10)
	x.Reset()
	return x
}

// Order is the longest n-gram the index counts.
func (x *Index) Order() int { return x.order }

// Reset forgets all texts.
func (x *Index) Reset() {
	x.nodes = append(x.nodes[:0], node{})
	clear(x.roots[:])
	clear(x.table)
	x.used, x.stamp = 0, 0
	x.blocks = x.blocks[:0]
	x.words = x.words[:0]
	clear(x.free[:])
	x.next, x.latest, x.set = x.next[:0], x.latest[:0], x.set[:0]
	x.parts, x.ends = x.parts[:0], x.ends[:0]
	x.sealed = false
	x.refs, x.hyps, x.union = x.refs[:0], x.hyps[:0], x.union[:0]
	x.nHyps = 0
	// Label 0 means "none". No reference sets its bit in the first word, so a hypothesis may
	// set it unconditionally.
	x.newWord(1)
	x.free[0] = 1
}

// AddReference reads the tokens of the next reference.
func (x *Index) AddReference(tokens []uint32) {
	x.read(tokens, x.extend)
	for _, w := range x.dirty {
		x.parts = append(x.parts, part{w, x.set[w]})
		x.set[w] = 0
	}
	x.ends = append(x.ends, len(x.parts))
}

// read collects the labels of a text in x.set. step leads from a node that is shorter than
// the longest n-gram to the next.
func (x *Index) read(tokens []uint32, step func(s int32, t uint32) int32) {
	x.stamp++
	x.dirty = x.dirty[:0]
	if x.order == 0 {
		return
	}
	state := int32(0)
	for _, t := range tokens {
		switch n := &x.nodes[state]; {
		case n.token == t+1:
			state = n.child
		case int(n.depth) == x.order: // it has no children: it remembers where it led last
			s := step(n.suffix, t)
			n = &x.nodes[state]
			n.token, n.child = t+1, s
			state = s
		default:
			state = step(state, t)
		}
		n := &x.nodes[state]
		labels := x.blocks[n.block:][:n.depth]
		for {
			i, last := x.mark(labels)
			if i == len(labels) {
				break
			}
			x.next[last] = x.newLabel(len(labels) - i)
			labels = labels[i:]
		}
	}
}

// mark adds one occurrence of each n-gram, given its first label. It stops at the first
// n-gram that has no label for this occurrence, and returns the label of the one before; in
// a hypothesis such an occurrence matches nothing.
func (x *Index) mark(labels []int32) (i int, last int32) {
	set, stamp := x.set, x.stamp
	for i, l := range labels {
		word := &set[l>>6]
		if *word>>(l&63)&1 != 0 {
			r := &x.latest[l]
			last = l
			if r.stamp == stamp {
				last = r.label
			}
			if l = x.next[last]; l == 0 && !x.sealed {
				return i, last
			}
			r.label, r.stamp = l, stamp
			word = &set[l>>6]
		}
		if *word == 0 {
			x.dirty = append(x.dirty, l>>6)
		}
		*word |= 1 << (l & 63)
	}
	return len(labels), 0
}

// Seal ends the references and packs the labels of each order into sets. If sets would take
// much more memory than the labels, as with many short references, the labels stay lists.
func (x *Index) Seal() {
	x.sealed = true
	x.remap = append(x.remap[:0], make([]int32, len(x.words))...)
	w := int32(0)
	for n := 1; n <= x.order; n++ {
		x.offset[n-1] = int(w)
		for i, o := range x.words {
			if int(o) == n {
				x.remap[i] = w
				w++
			}
		}
	}
	x.offset[x.order] = int(w)
	width := int(w)
	x.union = append(x.union[:0], make([]uint64, width)...)
	if x.sparse = width*len(x.ends) > 4*len(x.parts); !x.sparse {
		x.refs = append(x.refs[:0], make([]uint64, width*len(x.ends))...)
	}
	start := 0
	for r, end := range x.ends {
		for _, p := range x.parts[start:end] {
			x.union[x.remap[p.word]] |= p.bits
			if !x.sparse {
				x.refs[r*width+int(x.remap[p.word])] = p.bits
			}
		}
		start = end
	}
}

// Unite makes UnionMatches count against these references only.
func (x *Index) Unite(references []int) {
	clear(x.union)
	for _, r := range references {
		start := 0
		if r > 0 {
			start = x.ends[r-1]
		}
		for _, p := range x.parts[start:x.ends[r]] {
			x.union[x.remap[p.word]] |= p.bits
		}
	}
}

// AddHypothesis reads the tokens of the next hypothesis. The index must be
// sealed.
func (x *Index) AddHypothesis(tokens []uint32) {
	x.read(tokens, x.follow)
	width := x.offset[x.order]
	x.hyps = append(x.hyps, make([]uint64, width)...)
	set := x.hyps[x.nHyps*width:]
	x.nHyps++
	for _, w := range x.dirty {
		set[x.remap[w]] = x.set[w]
		x.set[w] = 0
	}
}

// follow finds the longest n-gram in the trie that ends with t, starting from the n-gram of
// a node.
func (x *Index) follow(s int32, t uint32) int32 {
	for {
		if c := x.child(s, t); c != 0 || s == 0 {
			return c
		}
		s = x.nodes[s].suffix
	}
}

// Matches writes the number of matched n-grams of hypothesis h and reference
// r to dst, one count per order.
func (x *Index) Matches(dst []int32, h, r int) {
	width := x.offset[x.order]
	hyp := x.hyps[h*width : (h+1)*width]
	if !x.sparse {
		x.intersect(dst, hyp, x.refs[r*width:(r+1)*width])
		return
	}
	clear(dst)
	start := 0
	if r > 0 {
		start = x.ends[r-1]
	}
	for _, p := range x.parts[start:x.ends[r]] {
		dst[x.words[p.word]-1] += int32(bits.OnesCount64(hyp[x.remap[p.word]] & p.bits))
	}
}

// UnionMatches is Matches against all references at once: each n-gram of the
// hypothesis counts up to its largest count in any reference.
func (x *Index) UnionMatches(dst []int32, h int) {
	width := x.offset[x.order]
	x.intersect(dst, x.hyps[h*width:(h+1)*width], x.union)
}

func (x *Index) intersect(dst []int32, a, b []uint64) {
	b = b[:len(a)]
	for n := 0; n < x.order; n++ {
		sum := 0
		for i := x.offset[n]; i < x.offset[n+1]; i++ {
			sum += bits.OnesCount64(a[i] & b[i])
		}
		dst[n] = int32(sum)
	}
}

// Total is how many n-grams of order n a text of length tokens has.
func Total(length, n int) int { return max(0, length-n+1) }

func (x *Index) newLabel(order int) int32 {
	l := x.free[order-1]
	if l&63 == 0 {
		l = x.newWord(order)
	}
	x.free[order-1] = l + 1
	return l
}

// newWord adds room for 64 labels of an order and returns the first.
func (x *Index) newWord(order int) int32 {
	l := int32(len(x.words)) << 6
	x.words = append(x.words, uint8(order))
	x.set = append(x.set, 0)
	x.next = append(x.next, make([]int32, 64)...)
	x.latest = append(x.latest, make([]latest, 64)...)
	return l
}

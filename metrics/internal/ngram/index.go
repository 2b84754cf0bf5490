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
// all shorter n-grams that end there. Texts of one segment share long spans, so a node
// remembers its last child, and the hash table is needed only where texts differ. A
// hypothesis walks the trie as an Aho–Corasick automaton and adds nothing to it, since
// n-grams of no reference cannot match.
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
	table  []int32           // other children by hash of parent and token, 0 for none
	shift  uint
	used   int
	todo   [MaxOrder]gap
	blocks []int32 // labels of first occurrences, a block per node

	stamp uint32          // of the text being read
	next  []repeat        // by label
	words []uint8         // order of each word of the label space
	free  [MaxOrder]int32 // next free label of an order, 0 when its word is full

	remap  []int32           // word of the label space -> word of a set
	offset [MaxOrder + 1]int // words [offset[n-1], offset[n]) of a set hold order n
	labels []int32           // of the references, one after another
	ends   []int             // where each reference ends in labels
	sparse bool              // whether references are kept as lists instead of sets
	refs   []uint64
	union  []uint64
	hyps   []uint64
	nRefs  int
	nHyps  int
}

// repeat chains the labels of an n-gram: the first occurrence, the second, …
type repeat struct {
	next  int32  // label of the next occurrence, 0 for none yet
	last  int32  // of a first label: the label of the latest occurrence in a text
	stamp uint32 // the text that last belongs to
}

// New returns an index for n-grams of orders 1 to order, at most MaxOrder.
func New(order int) *Index {
	if order < 0 || order > MaxOrder {
		panic("ngram: order out of range")
	}
	x := &Index{order: order}
	x.grow(1 << 12)
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
	x.next = x.next[:0]
	x.labels, x.ends = x.labels[:0], x.ends[:0]
	x.refs, x.hyps, x.union = x.refs[:0], x.hyps[:0], x.union[:0]
	x.nRefs, x.nHyps = 0, 0
	// Label 0 means "none". No reference sets its bit in the first word, so a hypothesis may
	// set it unconditionally.
	x.newWord(1)
	x.free[0] = 1
}

// AddReference reads the tokens of the next reference.
func (x *Index) AddReference(tokens []uint32) {
	x.stamp++
	if x.order == 0 {
		tokens = nil
	}
	state := int32(0)
	for _, t := range tokens {
		n := &x.nodes[state]
		if n.after == t+1 {
			state = n.child
		} else {
			s := state
			if int(n.depth) == x.order {
				s = n.suffix
			}
			c := x.extend(s, t)
			n = &x.nodes[state]
			n.after, n.child = t+1, c
			state = c
		}
		n = &x.nodes[state]
		for d, l := range x.blocks[n.block : n.block+n.depth] {
			r := &x.next[l]
			if r.stamp != x.stamp { // its first occurrence in this text
				r.last, r.stamp = l, x.stamp
				x.labels = append(x.labels, l)
				continue
			}
			before := r.last
			again := x.next[before].next
			if again == 0 {
				again = x.newLabel(int(n.depth) - d)
				x.next[before].next = again
				r = &x.next[l]
			}
			r.last = again
			x.labels = append(x.labels, again)
		}
	}
	x.ends = append(x.ends, len(x.labels))
	x.nRefs++
}

// Seal ends the references and packs the labels of each order into sets. If sets would take
// much more memory than the labels, as with many short references, the labels stay lists.
func (x *Index) Seal() {
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
	if x.sparse = width*x.nRefs > 4*len(x.labels); !x.sparse {
		x.refs = append(x.refs[:0], make([]uint64, width*x.nRefs)...)
	}
	start := 0
	remap := x.remap
	for r, end := range x.ends {
		set := x.union
		if !x.sparse {
			set = x.refs[r*width : (r+1)*width]
		}
		for _, l := range x.labels[start:end] {
			set[remap[l>>6]] |= 1 << (l & 63)
		}
		start = end
		if !x.sparse {
			for i, word := range set {
				x.union[i] |= word
			}
		}
	}
}

// AddHypothesis reads the tokens of the next hypothesis. The index must be
// sealed.
func (x *Index) AddHypothesis(tokens []uint32) {
	x.stamp++
	width := x.offset[x.order]
	x.hyps = append(x.hyps, make([]uint64, width)...)
	set := x.hyps[x.nHyps*width:]
	x.nHyps++
	if x.order == 0 || x.nRefs == 0 {
		return
	}
	nodes, next, remap, stamp := x.nodes, x.next, x.remap, x.stamp
	state := int32(0)
	for _, t := range tokens {
		n := &nodes[state]
		if n.after == t+1 {
			state = n.child
		} else {
			state = x.follow(state, t)
			n.after, n.child = t+1, state
		}
		n = &nodes[state]
		for _, l := range x.blocks[n.block : n.block+n.depth] {
			word := &set[remap[l>>6]]
			if *word>>(l&63)&1 == 0 {
				*word |= 1 << (l & 63)
				continue
			}
			r := &next[l]
			cur := l
			if r.stamp == stamp {
				cur = r.last
			}
			again := next[cur].next
			r.last, r.stamp = again, stamp
			set[remap[again>>6]] |= 1 << (again & 63)
		}
	}
}

// follow finds the longest n-gram in the trie that ends with t, starting from the n-gram of
// a node.
func (x *Index) follow(s int32, t uint32) int32 {
	if int(x.nodes[s].depth) == x.order {
		s = x.nodes[s].suffix
	}
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
	for _, l := range x.labels[start:x.ends[r]] {
		dst[x.words[l>>6]-1] += int32(hyp[x.remap[l>>6]] >> (l & 63) & 1)
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
	if l == 0 {
		l = x.newWord(order)
	}
	if (l+1)&63 == 0 {
		x.free[order-1] = 0
	} else {
		x.free[order-1] = l + 1
	}
	return l
}

// newWord adds room for 64 labels of an order and returns the first.
func (x *Index) newWord(order int) int32 {
	l := int32(len(x.words)) << 6
	x.words = append(x.words, uint8(order))
	var empty [64]repeat
	x.next = append(x.next, empty[:]...)
	return l
}

// Package ngram counts the n-grams that texts share, for all pairs of the
// hypotheses and references of one segment at once.
//
// The number of matches of BLEU and chrF is, for each order, the sum over
// distinct n-grams of min(count in the hypothesis, count in the reference).
// Label the k-th occurrence of n-gram g in a text (g, k): then that sum is
// the size of the intersection of two sets of labels. So the index gives
// every label that occurs in a reference one bit; a text becomes a bit set,
// a pair costs one AND and one population count for 64 labels, and the
// clipping of BLEU against several references (the maximum of their counts)
// is the union of their sets.
//
// The n-grams of the references form a trie whose nodes carry suffix links.
// A text is read once, from left to right: the node of the longest n-gram
// that ends at a token is found with one look-up when the window was seen
// before, and its suffix links lead to all shorter n-grams ending there. A
// hypothesis walks the trie as an Aho–Corasick automaton and adds nothing to
// it, since an n-gram of no reference can match none.
package ngram

import "math/bits"

// MaxOrder is the longest n-gram that an Index can hold.
const MaxOrder = 64

// Index holds the texts of one segment: first its references, then, after
// Seal, its hypotheses. Reset makes it ready for the next segment and keeps
// its memory.
type Index struct {
	order  int
	nodes  []node
	roots  [rootTokens]int32 // children of the root for the smallest tokens
	table  []slot            // children of all nodes, open addressing
	shift  uint
	used   int
	gen    uint32
	stamp  uint32 // of the text being read
	next   []int32
	words  []uint8           // order of each word of the label space
	free   [MaxOrder]int32   // next free label of an order, 0 when its word is full
	remap  []int32           // word of the label space -> word of a set
	offset [MaxOrder + 1]int // words [offset[n-1], offset[n]) of a set hold order n
	build  []uint64          // sets of references before Seal, one after the other
	ends   []int             // where each of them ends in build
	refs   []uint64
	union  []uint64
	hyps   []uint64
	nRefs  int
	nHyps  int
	full   []uint64 // scratch
}

const rootTokens = 256

type node struct {
	suffix int32  // node of the n-gram without its first token
	first  int32  // label of the first occurrence in a text
	last   int32  // label of the latest occurrence in the text with stamp
	stamp  uint32 // which text last is about
	depth  int32
}

type slot struct {
	key   uint64
	gen   uint32
	child int32
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
	x.gen++
	if x.gen == 0 { // wrapped: entries of old generations would look current
		clear(x.table)
		x.gen = 1
	}
	x.used, x.stamp = 0, 0
	x.words = x.words[:0]
	clear(x.free[:])
	x.next = x.next[:0]
	x.build, x.ends = x.build[:0], x.ends[:0]
	x.refs, x.hyps, x.union = x.refs[:0], x.hyps[:0], x.union[:0]
	x.nRefs, x.nHyps = 0, 0
	// Label 0 means "none"; its bit in the first word is never set by a
	// reference, so a hypothesis may set it without being asked.
	x.words = append(x.words, 1)
	x.next = append(x.next, make([]int32, 64)...)
	x.free[0] = 1
}

// AddReference reads the tokens of the next reference.
func (x *Index) AddReference(tokens []uint32) {
	x.stamp++
	start := len(x.build)
	x.build = append(x.build, make([]uint64, len(x.words))...)
	state := int32(0)
	if x.order == 0 {
		tokens = nil
	}
	for _, t := range tokens {
		s := state
		if int(x.nodes[s].depth) == x.order {
			s = x.nodes[s].suffix
		}
		state = x.childOrNew(s, t)
		for u := state; u != 0; {
			n := &x.nodes[u]
			l := n.first
			if n.stamp == x.stamp {
				if l = x.next[n.last]; l == 0 {
					l = x.newLabel(int(n.depth))
					x.next[n.last] = l
				}
			}
			n.stamp, n.last = x.stamp, l
			for start+int(l>>6) >= len(x.build) {
				x.build = append(x.build, 0)
			}
			x.build[start+int(l>>6)] |= 1 << (l & 63)
			u = n.suffix
		}
	}
	x.ends = append(x.ends, len(x.build))
	x.nRefs++
}

// Seal ends the references. Their sets are rearranged so that the labels of
// an order stand together.
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
	x.refs = append(x.refs[:0], make([]uint64, width*x.nRefs)...)
	x.union = append(x.union[:0], make([]uint64, width)...)
	if width == 0 { // order 0: nothing is counted
		return
	}
	start := 0
	for r, end := range x.ends {
		set := x.refs[r*width : (r+1)*width]
		for i, word := range x.build[start:end] {
			set[x.remap[i]] = word
			x.union[x.remap[i]] |= word
		}
		start = end
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
		s := state
		if int(nodes[s].depth) == x.order {
			s = nodes[s].suffix
		}
		for {
			if state = x.child(s, t); state != 0 || s == 0 {
				break
			}
			s = nodes[s].suffix
		}
		for u := state; u != 0; {
			n := &nodes[u]
			l := n.first
			if n.stamp == stamp {
				l = next[n.last]
			}
			n.stamp, n.last = stamp, l
			set[remap[l>>6]] |= 1 << (l & 63)
			u = n.suffix
		}
	}
}

// Matches writes the number of matched n-grams of hypothesis h and reference
// r to dst, one count per order.
func (x *Index) Matches(dst []int32, h, r int) {
	width := x.offset[x.order]
	x.intersect(dst, x.hyps[h*width:(h+1)*width], x.refs[r*width:(r+1)*width])
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
		l = int32(len(x.words)) << 6
		x.words = append(x.words, uint8(order))
		x.next = append(x.next, make([]int32, 64)...)
	}
	if (l+1)&63 == 0 {
		x.free[order-1] = 0
	} else {
		x.free[order-1] = l + 1
	}
	return l
}

func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

func (x *Index) child(s int32, t uint32) int32 {
	if s == 0 && t < rootTokens {
		return x.roots[t]
	}
	key := uint64(s)<<32 | uint64(t)
	mask := len(x.table) - 1
	for i := int(hash(key) >> x.shift); ; i++ {
		e := &x.table[i&mask]
		if e.gen != x.gen {
			return 0
		}
		if e.key == key {
			return e.child
		}
	}
}

// childOrNew finds or makes the child of s by t, and with it all its
// suffixes, so that every suffix link leads to a node.
func (x *Index) childOrNew(s int32, t uint32) int32 {
	if c := x.child(s, t); c != 0 {
		return c
	}
	suffix := int32(0)
	if s != 0 {
		suffix = x.childOrNew(x.nodes[s].suffix, t)
	}
	depth := x.nodes[s].depth + 1
	c := int32(len(x.nodes))
	x.nodes = append(x.nodes, node{suffix: suffix, depth: depth, first: x.newLabel(int(depth))})
	if s == 0 && t < rootTokens {
		x.roots[t] = c
		return c
	}
	if 2*(x.used+1) > len(x.table) {
		x.grow(2 * len(x.table))
	}
	x.insert(uint64(s)<<32|uint64(t), c)
	return c
}

func (x *Index) insert(key uint64, child int32) {
	mask := len(x.table) - 1
	i := int(hash(key) >> x.shift)
	for x.table[i&mask].gen == x.gen {
		i++
	}
	x.table[i&mask] = slot{key, x.gen, child}
	x.used++
}

func (x *Index) grow(size int) {
	old, gen := x.table, x.gen
	x.table = make([]slot, size)
	x.shift = uint(64 - bits.TrailingZeros(uint(size)))
	x.used = 0
	if gen == 0 {
		return
	}
	for _, e := range old {
		if e.gen == gen {
			x.insert(e.key, e.child)
		}
	}
}

package ngram

import "math/bits"

const rootTokens = 256

type node struct {
	suffix int32  // node of the n-gram without its first token
	block  int32  // where its labels are in blocks: its own, its suffix's, …
	token  uint32 // of the first child, plus one
	child  int32  // the first child
	depth  uint8  // number of labels
	more   bool   // whether the table holds further children
}

// edge leads from a node to one of its further children.
type edge struct {
	key   uint64 // node and token, see edgeKey
	child int32  // 0 for a free place
}

func edgeKey(s int32, t uint32) uint64 { return uint64(s)<<32 | uint64(t) }

func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

// place finds the edge with a key, or the free place for it.
func (x *Index) place(key uint64) *edge {
	mask := uint(len(x.table) - 1)
	for i := uint(hash(key) >> x.shift); ; i++ {
		if e := &x.table[i&mask]; e.child == 0 || e.key == key {
			return e
		}
	}
}

// child returns the child of s by t, or 0.
func (x *Index) child(s int32, t uint32) int32 {
	if s == 0 && t < rootTokens {
		return x.roots[t]
	}
	switch n := &x.nodes[s]; {
	case n.token == t+1:
		return n.child
	case !n.more:
		return 0
	}
	return x.place(edgeKey(s, t)).child
}

// adopt makes a node the child of s by t.
func (x *Index) adopt(s int32, t uint32, child int32) {
	n := &x.nodes[s]
	switch {
	case s == 0 && t < rootTokens:
		x.roots[t] = child
	case n.child == 0:
		n.token, n.child = t+1, child
	default:
		n.more = true
		if x.used++; 2*x.used > len(x.table) {
			x.grow(2 * len(x.table))
		}
		key := edgeKey(s, t)
		*x.place(key) = edge{key, child}
	}
}

// extend finds or makes the child of s by t, and the children of all its suffixes, so that
// every suffix link leads to a node. The labels of the nodes it makes are nested, so they
// share one block.
func (x *Index) extend(s int32, t uint32) int32 {
	top, block := int32(len(x.nodes)), int32(len(x.blocks))
	for {
		made := int32(len(x.nodes))
		if c := x.child(s, t); c != 0 {
			if made == top {
				return c
			}
			x.nodes[made-1].suffix = c
			from := x.nodes[c].block
			x.blocks = append(x.blocks, x.blocks[from:from+int32(x.nodes[c].depth)]...)
			return top
		}
		depth := x.nodes[s].depth + 1
		x.blocks = append(x.blocks, x.newLabel(int(depth)))
		x.nodes = append(x.nodes, node{suffix: made + 1, block: block + made - top, depth: depth})
		x.adopt(s, t, made)
		if s == 0 {
			x.nodes[made].suffix = 0
			return top
		}
		s = x.nodes[s].suffix
	}
}

func (x *Index) grow(size int) {
	old := x.table
	x.table = make([]edge, size)
	x.shift = uint(64 - bits.TrailingZeros(uint(size)))
	for _, e := range old {
		if e.child != 0 {
			*x.place(e.key) = e
		}
	}
}

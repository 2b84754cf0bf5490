package ngram

import "math/bits"

const rootTokens = 256

type node struct {
	parent int32
	token  uint32 // that leads here from the parent
	suffix int32  // node of the n-gram without its first token
	block  int32  // where its labels are in blocks: its own, its suffix's, …
	depth  int32  // number of labels
	after  uint32 // token read last at this node, plus one
	child  int32  // where that token led
}

// gap is a missing child of a node, and the slot of the table for it.
type gap struct {
	parent int32
	at     uint
}

func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

// find returns the child of s by t, or 0 and the slot where it belongs.
func (x *Index) find(s int32, t uint32) (child int32, at uint) {
	mask := uint(len(x.table) - 1)
	for i := uint(hash(uint64(s)<<32|uint64(t)) >> x.shift); ; i++ {
		c := x.table[i&mask]
		if c == 0 {
			return 0, i & mask
		}
		if n := &x.nodes[c]; n.parent == s && n.token == t {
			return c, 0
		}
	}
}

func (x *Index) child(s int32, t uint32) int32 {
	if s == 0 && t < rootTokens {
		return x.roots[t]
	}
	c, _ := x.find(s, t)
	return c
}

// extend finds or makes the child of s by t, and the children of all its suffixes, so that
// every suffix link leads to a node.
func (x *Index) extend(s int32, t uint32) int32 {
	if 2*(x.used+x.order) > len(x.table) {
		x.grow(2 * len(x.table))
	}
	todo := &x.todo
	missing := 0
	c := int32(0) // the longest suffix that exists
	for {
		var at uint
		if s == 0 && t < rootTokens {
			c = x.roots[t]
		} else {
			c, at = x.find(s, t)
		}
		if c != 0 {
			break
		}
		todo[missing].parent, todo[missing].at = s, at
		missing++
		if s == 0 {
			break
		}
		s = x.nodes[s].suffix
	}
	for ; missing > 0; missing-- {
		parent := todo[missing-1].parent
		made := int32(len(x.nodes))
		depth := x.nodes[parent].depth + 1
		block := int32(len(x.blocks))
		x.blocks = append(x.blocks, x.newLabel(int(depth)))
		if c != 0 {
			from := x.nodes[c].block
			x.blocks = append(x.blocks, x.blocks[from:from+depth-1]...)
		}
		x.nodes = append(x.nodes, node{parent: parent, token: t, suffix: c, depth: depth, block: block})
		if parent == 0 && t < rootTokens {
			x.roots[t] = made
		} else {
			x.insert(todo[missing-1].at, made)
		}
		c = made
	}
	return c
}

// insert puts a node into the free slot at, or into the next free one.
func (x *Index) insert(at uint, n int32) {
	mask := uint(len(x.table) - 1)
	for x.table[at&mask] != 0 {
		at++
	}
	x.table[at&mask] = n
	x.used++
}

func (x *Index) grow(size int) {
	old := x.table
	x.table = make([]int32, size)
	x.shift = uint(64 - bits.TrailingZeros(uint(size)))
	x.used = 0
	for _, c := range old {
		if c != 0 {
			n := &x.nodes[c]
			x.insert(uint(hash(uint64(n.parent)<<32|uint64(n.token))>>x.shift), c)
		}
	}
}

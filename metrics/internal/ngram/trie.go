package ngram

const rootTokens = 256

// trie holds n-grams. Every suffix of one is in it too, and comes before it in nodes.
type trie struct {
	nodes []node
	roots [rootTokens]int32 // children of the root for the smallest tokens
	edges []edge            // to children beyond a node's first
	table []int32           // last edge of each hash, plus one
}

type node struct {
	count  plane  // of occurrences
	suffix int32  // node of the n-gram without its first token
	token  uint32 // of the first child, plus one
	child  int32  // the first child
	depth  uint8  // tokens of the n-gram
	more   bool   // whether edges lead to further children
}

// edge leads from a node to one of its further children.
type edge struct {
	key         uint64 // node and token, see edgeKey
	child, next int32  // next has the same hash: an index plus one
}

func edgeKey(s int32, t uint32) uint64 { return uint64(s)<<32 | uint64(t) }

func hash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

func (x *trie) reset() {
	x.nodes = append(x.nodes[:0], node{})
	clear(x.roots[:])
	x.edges = x.edges[:0]
	x.hashTo(1 << 10)
}

// hashTo makes a table of a size, a power of 2, for the edges.
func (x *trie) hashTo(size int) {
	x.table = append(x.table[:0], make([]int32, size)...)
	for i := range x.edges {
		x.link(int32(i))
	}
}

// head is the place in the table for a key.
func (x *trie) head(key uint64) *int32 { return &x.table[int(hash(key)>>32)&(len(x.table)-1)] }

func (x *trie) link(i int32) {
	head := x.head(x.edges[i].key)
	x.edges[i].next, *head = *head, i+1
}

// child returns the child of s by t, or 0.
func (x *trie) child(s int32, t uint32) int32 {
	if s == 0 && t < rootTokens {
		return x.roots[t]
	}
	switch n := &x.nodes[s]; {
	case n.token == t+1:
		return n.child
	case !n.more:
		return 0
	}
	key := edgeKey(s, t)
	for i := *x.head(key); i != 0; {
		e := &x.edges[i-1]
		if e.key == key {
			return e.child
		}
		i = e.next
	}
	return 0
}

// adopt makes a node the child of s by t.
func (x *trie) adopt(s int32, t uint32, child int32) {
	n := &x.nodes[s]
	switch {
	case s == 0 && t < rootTokens:
		x.roots[t] = child
	case n.child == 0:
		n.token, n.child = t+1, child
	default:
		n.more = true
		x.edges = append(x.edges, edge{key: edgeKey(s, t), child: child})
		if len(x.edges) > len(x.table) {
			x.hashTo(2 * len(x.table))
		} else {
			x.link(int32(len(x.edges) - 1))
		}
	}
}

// step finds the longest n-gram that ends with t, starting from the n-gram of a node. With
// grow it first adds the n-gram of the node followed by t, and all suffixes of that.
func (x *trie) step(s int32, t uint32, grow bool) int32 {
	c := x.child(s, t)
	if c != 0 {
		return c
	}
	if s != 0 {
		c = x.step(x.nodes[s].suffix, t, grow)
	}
	if grow {
		made := int32(len(x.nodes))
		x.nodes = append(x.nodes, node{})
		n := &x.nodes[made] // a node copied as a whole would wait for its fields to be stored
		n.suffix, n.depth = c, x.nodes[s].depth+1
		x.adopt(s, t, made)
		c = made
	}
	return c
}

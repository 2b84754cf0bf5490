// Package ngram counts the n-grams that texts share, for all pairs of the hypotheses and
// references of one segment at once.
//
// For BLEU and chrF, the number of matches of an order is the sum over distinct n-grams of
// min(count in the hypothesis, count in the reference). With the label (g, k) for "n-gram g
// occurs at least k times", that sum is the number of labels that are true of both texts.
//
// The n-grams of up to 32 hypotheses form a trie with suffix links, and up to 32 references
// walk it as an Aho–Corasick automaton: what is in no hypothesis cannot match. A text is a
// bit. A token is counted only at the node of the longest n-gram that ends there; one pass
// over the nodes, long n-grams first, adds the counts of each to those of its suffix, for
// all texts at once, and gives the texts of each label. 64 labels are then transposed, so
// that a pair costs one AND and one population count for them. BLEU's clipping against
// several references (the maximum of their counts) needs the labels that are true of any.
package ngram

import "math/bits"

// MaxOrder is the longest n-gram that an Index can hold.
const MaxOrder = 64

// half is the number of texts of one side that are counted at once: hypotheses are the low
// bits of a word, and references the high ones.
const half = 32

const hypotheses = 1<<half - 1

// Index holds the texts of one segment. Reset prepares it for the next one and keeps its
// memory.
type Index struct {
	order      int
	hyps, refs side
	matches    []int32 // by hypothesis, reference and order
	union      []int32 // by hypothesis and order

	// of up to half hypotheses
	trie
	planes []plane  // higher bits of counts; the first is 0
	added  uint64   // the texts whose counts are added to those of the suffixes
	known  []int32  // for each node, the largest count so far that a reference and a hypothesis have
	labels []labels // by order
	full   []labels // for Unite: all that were counted
}

// side are the tokens of the hypotheses, or of the references.
type side struct {
	tokens []uint32
	ends   []int
}

func (s *side) add(tokens []uint32) {
	s.tokens = append(s.tokens, tokens...)
	s.ends = append(s.ends, len(s.tokens))
}

func (s *side) text(i int) []uint32 {
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.tokens[start:s.ends[i]]
}

// plane holds one binary digit of a count for every text.
type plane struct {
	bits uint64
	next int32 // the next higher digit in Index.planes, 0 for none
}

// labels are up to 64 labels of one order.
type labels struct {
	order int // of their n-grams
	first int // hypothesis
	n     int
	texts [64]uint64 // of each label; later the labels of each text
	fresh uint64     // labels that are true of none of the references counted before
}

// New returns an index for n-grams of orders 1 to order, at most MaxOrder.
func New(order int) *Index {
	if order < 0 || order > MaxOrder {
		panic("ngram: order out of range")
	}
	return &Index{order: order, labels: make([]labels, order)}
}

// Reset forgets all texts.
func (x *Index) Reset() {
	for _, s := range []*side{&x.hyps, &x.refs} {
		s.tokens, s.ends = s.tokens[:0], s.ends[:0]
	}
}

// AddReference takes the tokens of the next reference.
func (x *Index) AddReference(tokens []uint32) { x.refs.add(tokens) }

// AddHypothesis takes the tokens of the next hypothesis.
func (x *Index) AddHypothesis(tokens []uint32) { x.hyps.add(tokens) }

// Count counts the matches of all texts added since Reset.
func (x *Index) Count() {
	hyps, refs := len(x.hyps.ends), len(x.refs.ends)
	x.matches = append(x.matches[:0], make([]int32, hyps*refs*x.order)...)
	x.union = append(x.union[:0], make([]int32, hyps*x.order)...)
	x.full = x.full[:0]
	if x.order == 0 {
		return
	}
	for h := 0; h < hyps; h += half {
		x.trie.reset()
		x.planes = append(x.planes[:0], plane{})
		for i := h; i < min(h+half, hyps); i++ {
			x.read(x.hyps.text(i), 1<<(i-h), true)
		}
		x.known = append(x.known[:0], make([]int32, len(x.nodes))...)
		x.added = 0
		for r := 0; r < refs; r += half {
			for i := r; i < min(r+half, refs); i++ {
				x.read(x.refs.text(i), 1<<(half+i-r), false)
			}
			x.sum(h, r)
			x.forget()
		}
	}
}

// read counts each token of a text at the node of the longest n-gram that ends there.
func (x *Index) read(tokens []uint32, text uint64, grow bool) {
	state := int32(0)
	for _, t := range tokens {
		switch n := &x.nodes[state]; {
		case n.token == t+1:
			state = n.child
		case int(n.depth) == x.order: // it has no children: it remembers where it led last
			s := x.step(n.suffix, t, grow)
			n = &x.nodes[state]
			n.token, n.child = t+1, s
			state = s
		default:
			state = x.step(state, t, grow)
		}
		if n := &x.nodes[state]; n.count.bits&text == 0 {
			n.count.bits |= text
		} else {
			x.add(state, plane{bits: text})
		}
	}
}

// add adds counts to those of a node.
func (x *Index) add(to int32, b plane) {
	a, carry := &x.nodes[to].count, uint64(0)
	for {
		one := a.bits ^ b.bits
		a.bits, carry = one^carry, a.bits&b.bits|one&carry
		if b.next == 0 && carry == 0 {
			return
		}
		if a.next == 0 {
			a.next = int32(len(x.planes))
			x.planes = append(x.planes, plane{})
		}
		a, b = &x.planes[a.next], x.planes[b.next]
		b.bits &^= x.added
	}
}

// sum completes the counts of all n-grams and finds their labels.
func (x *Index) sum(h, r int) {
	for v := len(x.nodes) - 1; v > 0; v-- {
		n := &x.nodes[v]
		l, known, texts := &x.labels[n.depth-1], &x.known[v], n.count.bits
		for k := int32(1); ; k++ {
			if n.count.next != 0 {
				texts = x.least(n.count, k)
			} else if k > 1 {
				break
			}
			if texts>>half == 0 || texts&hypotheses == 0 {
				break
			}
			if k > *known {
				*known = k
				l.fresh |= 1 << l.n
			}
			l.texts[l.n] = texts
			if l.n++; l.n == len(l.texts) {
				x.flush(int(n.depth), h, r)
			}
		}
		b := n.count
		b.bits &^= x.added
		if a := &x.nodes[n.suffix].count; b.next == 0 && a.bits&b.bits == 0 {
			a.bits |= b.bits
		} else {
			x.add(n.suffix, b)
		}
	}
	for n := range x.order {
		x.flush(n+1, h, r)
	}
	x.added = hypotheses
}

// least returns the texts with a count of at least k.
func (x *Index) least(count plane, k int32) uint64 {
	k-- // more than that
	texts := uint64(0)
	for p := count; ; p = x.planes[p.next] {
		if k&1 == 0 {
			texts |= p.bits
		} else {
			texts &= p.bits
		}
		k >>= 1
		if p.next == 0 {
			break
		}
	}
	if k > 0 {
		return 0
	}
	return texts
}

// forget sets the counts of the references to 0.
func (x *Index) forget() {
	for i := range x.nodes {
		x.nodes[i].count.bits &= hypotheses
	}
	for i := range x.planes {
		x.planes[i].bits &= hypotheses
	}
}

// flush adds the labels of an order to the matches of the hypotheses from h and the
// references from r.
func (x *Index) flush(order, h, r int) {
	l := &x.labels[order-1]
	l.order, l.first = order, h
	clear(l.texts[l.n:])
	transpose(&l.texts)
	x.unite(l, l.fresh)
	if len(x.refs.ends) <= half {
		x.full = append(x.full, *l)
	}
	hyps, refs, matches, step := len(x.hyps.ends), len(x.refs.ends), x.matches, x.order
	columns := l.texts[half:][:min(half, refs-r)]
	for i, row := range l.texts[:min(half, hyps-h)] {
		at := ((h+i)*refs+r)*x.order + order - 1
		for _, column := range columns {
			matches[at] += int32(bits.OnesCount64(row & column))
			at += step
		}
	}
	l.n, l.fresh = 0, 0
}

// transpose swaps bit i of word k with bit k of word i.
func transpose(m *[64]uint64) {
	mask := uint64(1<<32 - 1)
	for j := 32; j > 0; j >>= 1 {
		for start := 0; start < 64; start += 2 * j {
			low, high := m[start:start+j], m[start+j:start+2*j]
			for k, h := range high {
				d := (low[k]>>(j&63) ^ h) & mask
				low[k] ^= d << (j & 63)
				high[k] = h ^ d
			}
		}
		mask ^= mask << (j / 2 & 63)
	}
}

// Matches returns the number of matched n-grams of hypothesis h and reference r, one count
// per order.
func (x *Index) Matches(h, r int) []int32 {
	return x.matches[(h*len(x.refs.ends)+r)*x.order:][:x.order]
}

// Unite makes UnionMatches count against these references only.
func (x *Index) Unite(references []int) {
	if len(x.refs.ends) > half { // a label has no place that is the same for all references
		part := New(x.order)
		part.hyps = x.hyps
		for _, r := range references {
			part.AddReference(x.refs.text(r))
		}
		part.Count()
		x.union = part.union
		return
	}
	clear(x.union)
	for i := range x.full {
		l, has := &x.full[i], uint64(0)
		for _, r := range references {
			has |= l.texts[half+r]
		}
		x.unite(l, has)
	}
}

// unite adds to the union those of some labels that a reference has.
func (x *Index) unite(l *labels, has uint64) {
	at := l.first*x.order + l.order - 1
	for _, row := range l.texts[:min(half, len(x.hyps.ends)-l.first)] {
		x.union[at] += int32(bits.OnesCount64(row & has))
		at += x.order
	}
}

// UnionMatches is Matches against all references at once: each n-gram of the
// hypothesis counts up to its largest count in any reference.
func (x *Index) UnionMatches(h int) []int32 { return x.union[h*x.order:][:x.order] }

// Total is how many n-grams of order n a text of length tokens has.
func Total(length, n int) int { return max(0, length-n+1) }

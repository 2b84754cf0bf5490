package selection

import "container/heap"

// Facility orders the candidates by greedy facility location: the next one is
// that which adds most to the sum, over all candidates, of the similarity to
// the nearest chosen text. The first given texts of m are chosen from the
// start, and the others are the candidates, numbered from 0. Every prefix
// gains at least 1 - 1/e of the largest possible gain over the given texts
// (Nemhauser, Wolsey and Fisher, 1978). Of equals the first is taken.
//
// The evaluation is lazy (Minoux, 1978): as a gain never grows, a candidate
// whose gain, computed anew, is still the largest need not be compared with
// the others. This holds to the bit, since rounding keeps the order of sums
// that are added up in the same order.
func Facility(m *Matrix, given int) []int {
	f := newFacility(m, given)
	q := make(gains, 0, m.n-given)
	for c := given; c < m.n; c++ {
		q = append(q, gain{c, f.gain(c)})
	}
	heap.Init(&q)
	order := make([]int, 0, len(q))
	for len(q) > 0 {
		old := q[0]
		q[0].value = f.gain(old.candidate)
		if heap.Fix(&q, 0); q[0].candidate != old.candidate {
			continue
		}
		heap.Pop(&q)
		f.choose(old.candidate)
		order = append(order, old.candidate-given)
	}
	return order
}

// facility is the state of a greedy selection.
type facility struct {
	m       *Matrix
	given   int
	nearest []float64 // similarity of each text to the nearest chosen one; 0 where none is
}

func newFacility(m *Matrix, given int) *facility {
	f := &facility{m, given, make([]float64, m.n)}
	for g := range given {
		f.choose(g)
	}
	return f
}

func (f *facility) choose(c int) {
	for i, s := range f.m.row(c) {
		f.nearest[i] = max(f.nearest[i], s)
	}
}

// gain is what choosing c would add.
func (f *facility) gain(c int) float64 {
	row := f.m.row(c)
	var sum float64
	for i := f.given; i < f.m.n; i++ {
		sum += max(0, row[i]-f.nearest[i])
	}
	return sum
}

// gain is what a candidate adds, or at most adds.
type gain struct {
	candidate int
	value     float64
}

// gains is a heap with the largest gain on top, of equals the first candidate.
type gains []gain

func (g gains) Len() int { return len(g) }
func (g gains) Less(i, j int) bool {
	if g[i].value != g[j].value {
		return g[i].value > g[j].value
	}
	return g[i].candidate < g[j].candidate
}
func (g gains) Swap(i, j int) { g[i], g[j] = g[j], g[i] }
func (g *gains) Push(x any)   { *g = append(*g, x.(gain)) }
func (g *gains) Pop() any {
	last := (*g)[len(*g)-1]
	*g = (*g)[:len(*g)-1]
	return last
}

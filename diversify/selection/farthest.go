package selection

import "math"

// Farthest orders the candidates by farthest-point traversal (Gonzalez, 1985):
// the next one is that whose nearest chosen text is farthest. The first given
// texts of m are chosen from the start, and the others are the candidates,
// numbered from 0. Every prefix covers the candidates within at most twice the
// smallest possible distance, where the similarities come from a metric.
//
// Where nothing is given, the first candidate begins. Of equals the first is
// taken.
func Farthest(m *Matrix, given int) []int {
	nearest := make([]float64, m.n) // similarity to the nearest chosen text
	for i := range nearest {
		nearest[i] = math.Inf(-1)
	}
	choose := func(c int) {
		for i, s := range m.row(c) {
			nearest[i] = max(nearest[i], s)
		}
	}
	for g := range given {
		choose(g)
	}
	chosen := make([]bool, m.n)
	order := make([]int, 0, m.n-given)
	for range m.n - given {
		next := -1
		for c := given; c < m.n; c++ {
			if !chosen[c] && (next < 0 || nearest[c] < nearest[next]) {
				next = c
			}
		}
		chosen[next] = true
		choose(next)
		order = append(order, next-given)
	}
	return order
}

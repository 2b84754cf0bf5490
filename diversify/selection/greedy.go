package selection

import (
	"math"
	"slices"
)

// Farthest orders the candidates by farthest-point traversal (Gonzalez, 1985):
// the next one is that whose nearest chosen text is farthest. The first given
// texts of m are chosen from the start, and the others are the candidates,
// numbered from 0. Every prefix covers the candidates within at most twice the
// smallest possible distance, where the similarities come from a metric.
//
// Where nothing is given, the first candidate begins. Of equals the first is
// taken.
func Farthest(m *Matrix, given int) []int {
	return greedy(m, given, math.Inf(-1), func(c int, nearest []float64) float64 { return -nearest[c] })
}

// Facility orders the candidates by greedy facility location: the next one is
// that which adds most to the sum, over all candidates, of the similarity to
// the nearest chosen text. The first given texts of m are chosen from the
// start, and the others are the candidates, numbered from 0. Every prefix
// gains at least 1 - 1/e of the largest possible gain over the given texts
// (Nemhauser, Wolsey and Fisher, 1978). Of equals the first is taken.
func Facility(m *Matrix, given int) []int {
	return greedy(m, given, 0, func(c int, nearest []float64) float64 {
		row := m.row(c)
		var gain float64
		for i := given; i < m.n; i++ {
			gain += max(0, row[i]-nearest[i])
		}
		return gain
	})
}

// greedy orders the candidates by what each is worth at its turn, given the
// similarity of every text to the nearest chosen one, or none before there is
// one.
func greedy(m *Matrix, given int, none float64, worth func(c int, nearest []float64) float64) []int {
	nearest := slices.Repeat([]float64{none}, m.n)
	choose := func(c int) {
		for i, s := range m.row(c) {
			nearest[i] = max(nearest[i], s)
		}
	}
	for g := range given {
		choose(g)
	}
	left := make([]int, m.n-given)
	for i := range left {
		left[i] = given + i
	}
	order := make([]int, 0, len(left))
	for len(left) > 0 {
		next, most := 0, math.Inf(-1)
		for i, c := range left {
			if v := worth(c, nearest); v > most {
				next, most = i, v
			}
		}
		c := left[next]
		left = slices.Delete(left, next, next+1)
		choose(c)
		order = append(order, c-given)
	}
	return order
}

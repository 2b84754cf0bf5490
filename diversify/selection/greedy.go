package selection

import (
	"math"
	"slices"
)

// farthest orders the candidates by farthest-point traversal (Gonzalez, 1985): next
// comes the candidate whose nearest chosen text is farthest away. The first given texts
// of m are chosen from the start; the others are the candidates, numbered from 0. If
// the similarities come from a distance metric, every prefix covers the candidates within
// at most twice the smallest possible distance.
//
// If given is 0, the first candidate is chosen first. Of equal candidates the first is
// chosen.
func farthest(m Matrix, given int) []int {
	return greedy(m, given, math.Inf(-1), func(c int, nearest []float64) float64 { return -nearest[c] })
}

// facility orders the candidates by greedy facility location: next comes the candidate
// that adds most to the sum, over all candidates, of the similarity to the nearest chosen
// text. The first given texts of m are chosen from the start; the others are the
// candidates, numbered from 0. Every prefix gains at least 1 - 1/e of the largest
// possible gain over the given texts (Nemhauser, Wolsey and Fisher, 1978). Of equal
// candidates the first is chosen.
func facility(m Matrix, given int) []int {
	return greedy(m, given, 0, func(c int, nearest []float64) float64 {
		row := m[c]
		var gain float64
		for i := given; i < len(m); i++ {
			gain += max(0, row[i]-nearest[i])
		}
		return gain
	})
}

// greedy repeatedly chooses the candidate with the highest worth. worth gets the
// similarity of every text to its nearest chosen text, which is none while no text is
// chosen.
func greedy(m Matrix, given int, none float64, worth func(c int, nearest []float64) float64) []int {
	nearest := slices.Repeat([]float64{none}, len(m))
	choose := func(c int) {
		for i, s := range m[c] {
			nearest[i] = max(nearest[i], s)
		}
	}
	for g := range given {
		choose(g)
	}
	left := make([]int, len(m)-given)
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

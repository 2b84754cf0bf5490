package selection

import "fmt"

// Matrix holds the similarities of texts, from 0 (nothing in common) to 1 (the same). It is
// square and symmetric, with ones on the diagonal.
type Matrix [][]float64

// NewMatrix calls similarity for every pair j < i of n texts. A value outside
// [0, 1] is an error.
func NewMatrix(n int, similarity func(i, j int) float64) (Matrix, error) {
	m := make(Matrix, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = 1
		for j := range i {
			s := similarity(i, j)
			if !(s >= 0 && s <= 1) {
				return nil, fmt.Errorf("the similarity of texts %d and %d is %v, and not in [0, 1]", i, j, s)
			}
			m[i][j], m[j][i] = s, s
		}
	}
	return m, nil
}

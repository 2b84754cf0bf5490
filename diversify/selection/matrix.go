package selection

// Matrix holds the similarities of texts, from 0 (nothing in common) to 1 (the same). It is
// square and symmetric, with ones on the diagonal.
type Matrix [][]float64

// NewMatrix calls similarity, which gives values from 0 to 1, for every pair j < i of n texts.
func NewMatrix(n int, similarity func(i, j int) float64) Matrix {
	m := make(Matrix, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = 1
		for j := range i {
			m[i][j] = similarity(i, j)
			m[j][i] = m[i][j]
		}
	}
	return m
}

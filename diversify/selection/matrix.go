package selection

import "fmt"

// Matrix holds the similarities of n texts, from 0 (nothing in common) to 1 (the
// same). It is symmetric, with ones on the diagonal.
type Matrix struct {
	n      int
	values []float64 // row-major
}

// NewMatrix calls similarity for every pair j < i of n texts. A value outside
// [0, 1] is an error.
func NewMatrix(n int, similarity func(i, j int) float64) (*Matrix, error) {
	m := &Matrix{n: n, values: make([]float64, n*n)}
	for i := range n {
		m.values[i*n+i] = 1
		for j := range i {
			s := similarity(i, j)
			if !(s >= 0 && s <= 1) {
				return nil, fmt.Errorf("the similarity of texts %d and %d is %v, and not in [0, 1]", i, j, s)
			}
			m.values[i*n+j], m.values[j*n+i] = s, s
		}
	}
	return m, nil
}

// Len returns the number of texts.
func (m *Matrix) Len() int { return m.n }

// At returns the similarity of texts i and j.
func (m *Matrix) At(i, j int) float64 { return m.values[i*m.n+j] }

// row returns the similarities of text i to all texts.
func (m *Matrix) row(i int) []float64 { return m.values[i*m.n : (i+1)*m.n] }

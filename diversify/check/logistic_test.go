package check_test

import (
	"math"
	"testing"
)

// labelled is a sample that is known to be of the rewriting, or not.
type labelled struct {
	x     []float64
	given float64 // to the sum of the weighed ones
	yes   bool
}

func dot(x, w []float64) (sum float64) {
	for i, v := range x {
		if v != 0 {
			sum += v * w[i]
		}
	}
	return sum
}

// logistic returns the weights with the least loss and squares, by twenty steps of
// Newton's from 0. A weight of what no sample has stays 0.
func logistic(samples []labelled, n int, squares float64) []float64 {
	w := make([]float64, n)
	for range 20 {
		g := make([]float64, n)
		h := make([][]float64, n)
		for i := range h {
			h[i] = make([]float64, n)
			h[i][i] = squares
			g[i] = -squares * w[i]
		}
		for _, s := range samples {
			p := 1 / (1 + math.Exp(-s.given-dot(s.x, w)))
			miss := -p
			if s.yes {
				miss++
			}
			for i, v := range s.x {
				if v == 0 {
					continue
				}
				g[i] += miss * v
				for k := 0; k <= i; k++ {
					h[i][k] += p * (1 - p) * v * s.x[k]
				}
			}
		}
		for i, d := range solve(h, g) {
			w[i] += d
		}
	}
	return w
}

// solve returns x of h x = g, by Cholesky: h is symmetric and positive, and of it
// only what is below the diagonal is looked at.
func solve(h [][]float64, g []float64) []float64 {
	n := len(g)
	x := make([]float64, n)
	for i := range n {
		for k := 0; k <= i; k++ {
			v := h[i][k] - dot(h[i][:k], h[k][:k])
			if i == k {
				h[i][i] = math.Sqrt(v)
			} else {
				h[i][k] = v / h[k][k]
			}
		}
		x[i] = (g[i] - dot(h[i][:i], x[:i])) / h[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= h[k][i] * x[k]
		}
		x[i] /= h[i][i]
	}
	return x
}

// Weights are found from which the samples come, and those of what none has are 0.
func TestLogistic(t *testing.T) {
	// The odds of yes are 3 where nothing shows, and 1/3 with the second feature.
	var samples []labelled
	for i := range 400 {
		samples = append(samples, labelled{x: []float64{1, 0, 0}, yes: i%4 != 0}, labelled{x: []float64{1, 1, 0}, given: 1, yes: i%4 == 0})
	}
	for i, want := range []float64{math.Log(3), -2*math.Log(3) - 1, 0} {
		if got := logistic(samples, 3, 1e-6)[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("weight %d is %v, want %v", i, got, want)
		}
	}
}

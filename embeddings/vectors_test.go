package embeddings_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/embeddings"
)

func ExampleDistances() {
	d, err := embeddings.Distances([][]float32{{1, 0}, {1, 1}})
	fmt.Printf("%.4f %v\n", d, err)
	_, err = embeddings.Distances([][]float32{{1, 0}, {0, 0}})
	fmt.Println(err)
	// Output:
	// [0.0000 0.2929 0.2929 0.0000] <nil>
	// vector 1: vectors cannot be compared: all 2 dimensions are 0
}

// distance returns the distance between two vectors.
func distance(a, b []float32) (float64, error) {
	d, err := embeddings.Distances([][]float32{a, b})
	if err != nil {
		return 0, err
	}
	return d[1], nil
}

func TestRefusedVectors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := []float32{1, 2}
	for _, bad := range [][]float32{{}, {1}, {1, 2, 3}, {0, 0}, {1, nan}, {inf, 1}} {
		_, err := embeddings.Distances([][]float32{good, bad})
		assert.ErrorIs(t, err, embeddings.ErrVector, "Distances of %v", bad)
	}
}

func drawVector(n int) *rapid.Generator[[]float32] {
	return rapid.Custom(func(t *rapid.T) []float32 {
		v := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), n, n).Draw(t, "vector")
		v[0]++
		if v[0] == 0 {
			v[0] = 1
		}
		return v
	})
}

// Cosines equal those from exact sums of products.
func TestCosine(t *testing.T) {
	dot := func(a, b []float32) *big.Float {
		sum := new(big.Float).SetPrec(2000)
		for i := range a {
			x := new(big.Float).SetPrec(2000).SetFloat64(float64(a[i]))
			sum.Add(sum, x.Mul(x, big.NewFloat(float64(b[i]))))
		}
		return sum
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "dimensions")
		a, b := drawVector(n).Draw(t, "a"), drawVector(n).Draw(t, "b")
		d, err := distance(a, b)
		got := 1 - d
		require.NoError(t, err)
		lengths := new(big.Float).SetPrec(2000).Mul(dot(a, a), dot(b, b))
		want, _ := new(big.Float).Quo(dot(a, b), lengths.Sqrt(lengths)).Float64()
		if math.Abs(got-want) > 1e-12 || d < 0 || d > 2 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vectors := rapid.SliceOfN(drawVector(4), 0, 8).Draw(t, "vectors")
		n := len(vectors)
		all, err := embeddings.Distances(vectors)
		require.True(t, err == nil && len(all) == n*n, "%v %v", len(all), err)
		for i := range n {
			for j := range n {
				want, err := distance(vectors[i], vectors[j])
				if i == j {
					want = 0
				}
				if err != nil || all[i*n+j] != want {
					t.Fatalf("[%d %d] is %v, want %v (%v)", i, j, all[i*n+j], want, err)
				}
			}
		}
	})
}

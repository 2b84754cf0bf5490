package numeric

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func numbers() *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.OneOf(
		rapid.Float64Range(-100, 100), rapid.Float64Range(-1e-9, 1e-9), rapid.Float64Range(-1e200, 1e200),
		rapid.Map(rapid.IntRange(-40, 40), func(i int) float64 { return float64(i) / 8 }),
		rapid.Map(rapid.IntRange(-3, 3), func(i int) float64 { return 1 + float64(i)*0x1p-52 }),
	), 1, 40)
}

// Sums and means equal those of exact rational arithmetic, rounded once.
func TestRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := numbers().Draw(t, "values")
		var s, half Sum
		total := new(big.Rat)
		for i, v := range values {
			total.Add(total, new(big.Rat).SetFloat64(v))
			if i%2 == 0 {
				s.Add(v)
			} else {
				half.Add(v)
			}
		}
		s.AddSum(&half)
		want, _ := total.Float64()
		require.Equal(t, want, s.Value(), "the sum of %v", values)
		mean := new(big.Rat).Quo(total, big.NewRat(int64(len(values)), 1))
		if want, _ := mean.Float64(); Mean(values) != want || s.Mean(len(values)) != want {
			t.Fatalf("the mean of %v is %v, want %v", values, Mean(values), want)
		}
	})
}

func TestSumsOfNothing(t *testing.T) {
	var s Sum
	if s.Value() != 0 || s.Mean(3) != 0 {
		t.Errorf("%v, %v", s.Value(), s.Mean(3))
	}
	assert.Equal(t, math.MaxFloat64, Mean([]float64{math.MaxFloat64}))
}

func BenchmarkMean(b *testing.B) {
	values := []float64{12.345678, 33.1234, 28.987654321, 45.1, 3.25, 9.999, 17.7777, 21.2121, 60.06, 30.303, 25.5}
	for b.Loop() {
		Mean(values)
	}
}

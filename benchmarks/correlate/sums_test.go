package correlate

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stretchr/testify/require"
)

// TestOfSums draws units plainly, with the same random numbers.
func TestOfSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64Range(1, 9), 2, 2), 1, 12).Draw(t, "segments")
		of := make(Units, len(segments))
		for i := range of {
			of[i] = int32(i * 5 / len(segments) * 2) // some numbers are no unit
		}
		b := Bootstrap{Resamples: 20, Seed: 7, Units: of}
		ratio := func(s []float64) float64 { return s[0] / s[1] }
		value, got, err := b.OfSums(t.Context(), segments, ratio)
		require.NoError(t, err)
		var units []int32
		sum := func(drawn ...int32) float64 {
			s := []float64{0, 0}
			for _, u := range drawn {
				for i, numbers := range segments {
					if of[i] == u {
						s[0], s[1] = s[0]+numbers[0], s[1]+numbers[1]
					}
				}
			}
			return ratio(s)
		}
		for i, u := range of {
			if i == 0 || of[i-1] != u {
				units = append(units, u)
			}
		}
		want := sum(units...)
		require.True(t, near(value, want, 1e-12), "%v, want %v", value, want)
		for i, v := range got.Values {
			var source rand.PCG
			SeedResample(&source, 7, i)
			random, drawn := rand.New(&source), []int32{}
			for range units {
				drawn = append(drawn, units[random.Uint64N(uint64(len(units)))])
			}
			want := sum(drawn...)
			require.True(t, near(v, want, 1e-12), "resample %d: %v, want %v", i, v, want)
		}
	})
}

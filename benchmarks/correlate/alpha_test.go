package correlate

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rated arranges the scores of raters, NaN for none, as the ratings of one system's outputs.
func rated(raters [][]float64) *Ratings {
	r := &Ratings{Segments: len(raters[0]), Systems: 1, Of: make([][]float64, len(raters[0]))}
	for _, scores := range raters {
		for i, v := range scores {
			if !math.IsNaN(v) {
				r.Of[i] = append(r.Of[i], v)
			}
		}
	}
	return r
}

// plainAlpha compares all pairs, as Krippendorff defines alpha.
func plainAlpha(r *Ratings, s Scale) float64 {
	var all []float64
	for _, of := range r.Of {
		if len(of) > 1 {
			all = append(all, of...)
		}
	}
	distance := func(a, b float64) float64 {
		between := a - b
		if s == OrdinalScale {
			between = 0
			for _, v := range all {
				if low, high := min(a, b), max(a, b); a != b && (v == low || v == high) {
					between += 0.5
				} else if low < v && v < high {
					between++
				}
			}
		}
		return between * between
	}
	sum := func(of []float64) (sum float64) {
		for _, a := range of {
			for _, b := range of {
				sum += distance(a, b)
			}
		}
		return sum
	}
	n, within := float64(len(all)), 0.0
	for _, of := range r.Of {
		if len(of) > 1 {
			within += sum(of) / float64(len(of)-1)
		}
	}
	expected := sum(all)
	if expected == 0 {
		return math.NaN()
	}
	return 1 - within/n/(expected/(n*(n-1)))
}

func TestAlpha(t *testing.T) {
	nan := math.NaN()
	r := rated([][]float64{{1, 2, 3, 3, 2, 1, 4, nan}, {1, 2, 3, 4, 2, 2, 4, 5}, {nan, 3, 3, 3, 2, 2, 5, nan}})
	for s, want := range []float64{IntervalScale: 0.8333333333333334, OrdinalScale: 0.8587733549959382} { // of krippendorff 0.9.0
		got := r.Alpha(Scale(s))
		assert.True(t, near(got, want, 1e-15), "alpha = %.17g, want %.17g", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.SampledFrom([]float64{-5, -1, -0.1, 0, 1, 2, 3})
		if rapid.Bool().Draw(t, "continuous") {
			score = rapid.Map(rapid.IntRange(-1e6, 1e6), func(n int) float64 { return float64(n) / 1e3 }) // whose squares the plain way holds
		}
		r := &Ratings{Segments: rapid.IntRange(0, 9).Draw(t, "segments"), Systems: rapid.IntRange(1, 3).Draw(t, "systems")}
		for range r.Segments * r.Systems {
			r.Of = append(r.Of, rapid.SliceOfN(score, 0, 4).Draw(t, "ratings"))
		}
		units := make(Units, r.Segments)
		for i := range units {
			units[i] = int32(rapid.IntRange(0, 2).Draw(t, "unit"))
		}
		for _, s := range []Scale{IntervalScale, OrdinalScale} {
			b := Bootstrap{Resamples: 9, Seed: 1, Units: units}
			got, resamples, err := b.Alpha(t.Context(), r, s)
			want := plainAlpha(r, s)
			require.True(t, err == nil && near(got, want, 1e-9), "alpha = %v, %v, want %v", got, err, want)
			p := NewPairs(r.Segments, r.Systems)
			for i, of := range r.Of {
				p.GoldOK[i], p.MetricOK[i] = len(of) > 1, len(of) > 1
			}
			unit, n, _ := units.ofCells(p)
			rs := &resampler{units: n}
			rs.pool, _ = pool(p, unit, n)
			for k, weights := range b.weights(rs, 0, b.Resamples) {
				again := &Ratings{}
				for i, of := range r.Of {
					again.Of = append(again.Of, slices.Repeat([][]float64{of}, int(weights[unit[i]]))...)
				}
				if want := plainAlpha(again, s); !near(resamples.Values[k], want, 1e-9) {
					t.Fatalf("resample %d: alpha = %v, want %v", k, resamples.Values[k], want)
				}
			}
		}
	})
}

// TestKrippendorffVectors checks the file that benchmarks/peers/krippendorff_check.py wrote.
func TestKrippendorffVectors(t *testing.T) {
	name := os.Getenv("REFRACT_KRIPPENDORFF_VECTORS")
	if name == "" {
		t.Skip("REFRACT_KRIPPENDORFF_VECTORS is not set: run benchmarks/peers/krippendorff_check.py and name its output there")
	}
	var cases []struct {
		Ratings           [][]undefined
		Interval, Ordinal undefined
	}
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &cases)
	}
	require.True(t, err == nil && len(cases) != 0, "%s: %d cases, %v", name, len(cases), err)
	for i, c := range cases {
		raters := make([][]float64, len(c.Ratings))
		for k, scores := range c.Ratings {
			for _, v := range scores {
				raters[k] = append(raters[k], float64(v))
			}
		}
		for s, want := range []undefined{IntervalScale: c.Interval, OrdinalScale: c.Ordinal} {
			got := rated(raters).Alpha(Scale(s))
			assert.True(t, near(got, float64(want), 1e-9), "case %d, scale %d: alpha = %.17g, krippendorff: %.17g", i, s, got, want)
		}
	}
	t.Logf("%d tables of ratings", len(cases))
}

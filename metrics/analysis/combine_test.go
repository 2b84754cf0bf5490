package analysis_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/analysis"
)

func TestCombinations(t *testing.T) {
	outlier := []float64{-1, -2, -1, -2, -1, -2, -1, -2, -1, -40}
	for _, c := range []struct {
		rule   analysis.Combination
		scores []float64
		sign   float64
		want   float64
	}{
		{analysis.Mean, []float64{1, 2, 6}, 1, 3},
		{analysis.Median, []float64{6, 1, 2}, 1, 2},
		{analysis.GEMBAV2, []float64{-5, -5, -5}, 1, -5},
		{analysis.GEMBAV2, []float64{-4, -1}, 1, (-1 - 4.0/2) / 1.5},
		{analysis.GEMBAV2, []float64{4, 1}, -1, (1 + 4.0/2) / 1.5},
		// The mean is −5.3 and the deviation 11.58, so that −40 is out.
		{analysis.GEMBAV2, outlier, 1, (-(1 + 1/2. + 1/3. + 1/4. + 1/5.) - 2*(1/6.+1/7.+1/8.+1/9.)) / (1 + 1/2. + 1/3. + 1/4. + 1/5. + 1/6. + 1/7. + 1/8. + 1/9.)},
	} {
		before := slices.Clone(c.scores)
		if got := c.rule.Of(c.scores, c.sign); math.Abs(got-c.want) > 1e-12 || !slices.Equal(before, c.scores) {
			t.Errorf("%s of %v: %v, want %v", c.rule, before, got, c.want)
		}
	}
	if _, err := analysis.ParseCombination("maen"); err == nil {
		t.Error("maen was read")
	}
}

// A combination lies within the scores, so that equal ones stay what they are.
func TestCombinationsStayWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 12).Draw(t, "scores")
		for _, name := range analysis.Combinations() {
			for _, sign := range []float64{1, -1} {
				if v := analysis.Combination(name).Of(scores, sign); !(v >= slices.Min(scores) && v <= slices.Max(scores)) {
					t.Fatalf("%s of %v is %v", name, scores, v)
				}
			}
		}
	})
}

// The reliability data of Krippendorff (2011), section E: four observers, twelve
// units, and missing values.
func TestAlpha(t *testing.T) {
	n := math.NaN()
	observers := [][]float64{
		{1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n},
		{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3},
		{n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n},
		{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n},
	}
	units := make([][]float64, 12)
	for _, o := range observers {
		for u, v := range o {
			if v == v {
				units[u] = append(units[u], v)
			}
		}
	}
	for ordinal, want := range map[bool]float64{false: 0.849, true: 0.815} {
		if got := analysis.Alpha(units, ordinal); !(math.Abs(got-want) <= 0.0005) {
			t.Errorf("ordinal %v: %v, want %v", ordinal, got, want)
		}
	}
	for _, none := range [][][]float64{nil, {{1}, {2}}, {{3, 3}, {3, 3}}} {
		if v := analysis.Alpha(none, false); !math.IsNaN(v) {
			t.Errorf("%v has an alpha of %v", none, v)
		}
	}
}

// Alpha by its definition, over the matrix of coincidences.
func plainAlpha(units [][]float64, ordinal bool) float64 {
	coincidences, margins := map[[2]float64]float64{}, map[float64]float64{}
	total := 0.0
	for _, u := range units {
		for i, a := range u {
			for j, b := range u {
				if i != j {
					coincidences[[2]float64{a, b}] += 1 / float64(len(u)-1)
				}
			}
			if len(u) > 1 {
				margins[a]++
				total++
			}
		}
	}
	difference := func(a, b float64) float64 {
		if !ordinal {
			return (a - b) * (a - b)
		}
		between := -(margins[a] + margins[b]) / 2
		for v, n := range margins {
			if v >= min(a, b) && v <= max(a, b) {
				between += n
			}
		}
		if a == b {
			return 0
		}
		return between * between
	}
	observed, expected := 0.0, 0.0
	for pair, n := range coincidences {
		observed += n * difference(pair[0], pair[1]) / total
	}
	for a, n := range margins {
		for b, m := range margins {
			expected += n * m * difference(a, b) / total / (total - 1)
		}
	}
	return 1 - observed/expected
}

func TestAlphaByDefinition(t *testing.T) {
	value := rapid.OneOf(rapid.Map(rapid.IntRange(0, 5), func(i int) float64 { return float64(i) }), rapid.Float64Range(-100, 100))
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(rapid.SliceOfN(value, 0, 5), 0, 8).Draw(t, "units")
		for _, ordinal := range []bool{false, true} {
			got := analysis.Alpha(units, ordinal)
			want := plainAlpha(units, ordinal)
			ok := !math.IsNaN(got)
			if ok && math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				t.Fatalf("ordinal %v: %v, want %v", ordinal, got, want)
			}
			if !ok && !math.IsNaN(want) && !math.IsInf(want, 0) {
				t.Fatalf("ordinal %v: none, want %v", ordinal, want)
			}
		}
	})
}

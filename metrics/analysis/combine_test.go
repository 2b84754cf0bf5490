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

package analysis_test

import (
	"math"
	"slices"
	"testing"

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
		{"median", []float64{6, 1, 2}, 1, 2},
		{"gemba-v2", []float64{-5, -5, -5}, 1, -5},
		{"gemba-v2", []float64{-4, -1}, 1, (-1 - 4.0/2) / 1.5},
		{"gemba-v2", []float64{4, 1}, -1, (1 + 4.0/2) / 1.5},
		// The mean is −5.3 and the deviation 11.58, so that −40 is out.
		{"gemba-v2", outlier, 1, (-(1 + 1/2. + 1/3. + 1/4. + 1/5.) - 2*(1/6.+1/7.+1/8.+1/9.)) / (1 + 1/2. + 1/3. + 1/4. + 1/5. + 1/6. + 1/7. + 1/8. + 1/9.)},
	} {
		before := slices.Clone(c.scores)
		if got := combined(c.rule, c.scores, c.sign); math.Abs(got-c.want) > 1e-12 || !slices.Equal(before, c.scores) {
			t.Errorf("%s of %v: %v, want %v", c.rule, before, got, c.want)
		}
	}
}

// combined returns the score of a report combined from reports with these scores.
func combined(rule analysis.Combination, scores []float64, sign float64) float64 {
	var parts []*analysis.Report
	for _, s := range scores {
		parts = append(parts, &analysis.Report{Outcome: analysis.Scored, Score: &s})
	}
	return *analysis.Combine(rule, parts, 1, sign).Score
}

package experiment_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
)

// The p-values of the pairs of a metric under a statistic are corrected together.
func TestOneFamily(t *testing.T) {
	res := run(t, parse(t, filepath.Join("testdata", "golden.yaml")))
	families := map[[2]string][]float64{}
	key := func(d experiment.Difference) [2]string { return [2]string{d.A.Metric, d.Statistic} }
	for _, d := range res.Differences {
		families[key(d)] = append(families[key(d)], float64(d.P))
	}
	n := len(families[[2]string{"bleu", "kendall"}])
	require.True(t, n == 6 && len(families) == 4, "%d pairs of BLEU, %d families", n, len(families))
	seen := map[[2]string]int{}
	for _, d := range res.Differences {
		want := significance.Holm(families[key(d)])[seen[key(d)]]
		assert.Equal(t, want, float64(d.Corrected), "%s against %s: p %v, corrected %v", d.A, d.B, d.P, d.Corrected)
		seen[key(d)]++
		if least := 1 / float64(d.Resamples+1); float64(d.P) < least {
			t.Errorf("%s against %s: p %v of %d resamples", d.A, d.B, d.P, d.Resamples)
		}
	}
}

// A program's plan has the same limits as a file, and they are checked before anything is
// drawn.
func TestLimits(t *testing.T) {
	for want, change := range map[string]func(e *experiment.Plan){
		"bootstrap.resamples: 1000000000: want 0 to 1000000": func(e *experiment.Plan) { e.Bootstrap.Resamples = 1e9 },
		"significance.resamples: 999999999999":               func(e *experiment.Plan) { e.Test.Resamples = 999999999999 },
		"curves[0].seeds: 10001: want 1 to 10000":            func(e *experiment.Plan) { e.Curves[0].Seeds = 10001 },
		"curves[0].resamples: 1000001":                       func(e *experiment.Plan) { e.Curves[0].Resamples = 1000001 },
	} {
		e := parse(t, sample)
		e.Curves = []experiment.Curve{{Method: selection.ByRandom, Seeds: 2}}
		change(e)
		_, err := (&experiment.Runner{}).Run(t.Context(), e)
		plan := (*experiment.PlanError)(nil)
		assert.True(t, errors.As(err, &plan) && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	}
}

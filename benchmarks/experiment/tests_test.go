package experiment_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/report"
)

// If a test has too few resamples, or segments to exchange, for any significant p-value, and
// the interval excludes 0, the difference is undecided, and says so. Eight segments give
// p-values down to 1/128, and ten differences need 1/200.
func TestTooFewAreUndecided(t *testing.T) {
	e := parse(t, filepath.Join("testdata", "golden.yaml"))
	for _, c := range []struct {
		resamples int
		few       string
	}{{19, "resamples"}, {2000, "segments"}} {
		e.Test.Resamples = c.resamples
		res, _ := run(t, e, t.TempDir())
		undecided := 0
		for _, d := range res.Differences {
			if d.Undecided && (d.Significant || d.Interval.Contains(0)) {
				t.Errorf("%d resamples: %+v", c.resamples, d)
			}
			if d.Undecided {
				undecided++
			}
		}
		said := slices.ContainsFunc(res.Verdicts, func(v experiment.Verdict) bool {
			return v.Outcome == report.Unclear && strings.HasPrefix(v.Text, "undecided: too few "+c.few)
		})
		noted := slices.ContainsFunc(res.Notes, func(n string) bool {
			return strings.Contains(n, "cannot find anything significant among 10 differences")
		})
		claim := res.Claim().Text
		if undecided == 0 || !said || noted != (c.few == "resamples") || !strings.HasPrefix(claim, "Too few "+c.few) {
			t.Errorf("%d resamples: %d undecided, said %v, noted %v, %q", c.resamples, undecided, said, noted, claim)
		}
	}
}

// The p-values are corrected as the one family that a reader sees, and a verdict shows the
// p-value it is based on.
func TestOneFamily(t *testing.T) {
	res, _ := run(t, parse(t, filepath.Join("testdata", "golden.yaml")), t.TempDir())
	var p []float64
	for _, d := range res.Differences {
		p = append(p, float64(d.P))
	}
	if len(p) != 10 {
		t.Fatalf("%d differences", len(p))
	}
	want := significance.Holm(p)
	for i, d := range res.Differences {
		if float64(d.Corrected) != want[i] {
			t.Errorf("%s against %s: p %v, corrected %v, want %v", d.A, d.B, d.P, d.Corrected, want[i])
		}
		if least := 1 / float64(d.Resamples+1); float64(d.P) < least {
			t.Errorf("%s against %s: p %v of %d resamples", d.A, d.B, d.P, d.Resamples)
		}
	}
	if !slices.ContainsFunc(res.Verdicts, func(v experiment.Verdict) bool {
		return strings.Contains(v.Text, "p = 0.100 (Holm)")
	}) {
		t.Error("no verdict shows the corrected p-value")
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
		_, _, err := (&experiment.Runner{}).Run(t.Context(), e)
		if plan := (*experiment.PlanError)(nil); !errors.As(err, &plan) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

package experiment_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/benchmarks/significance"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/report"
)

// If a test has too few resamples, or judged segments or documents to exchange, for any
// significant p-value, and the interval excludes 0, the difference is undecided, and says so.
// Three segments give p-values down to 1/4; those that nobody judged add nothing.
func TestTooFewAreUndecided(t *testing.T) {
	lines := strings.SplitAfter(fileText(t, "testdata/sample.jsonl"), "\n")[:8]
	unjudged := slices.Clone(lines)
	for i := 3; i < len(unjudged); i++ {
		line, _, _ := strings.Cut(unjudged[i], `, "human"`)
		unjudged[i] = line + "}\n"
	}
	var claims []string
	for _, c := range []struct {
		resamples int
		few       string
		lines     []string
		by        string
	}{{19, "resamples", lines, ""}, {2000, "segments", lines[:3], "segment"}, {2000, "segments", unjudged, "segment"}, {2000, "segments", unjudged, ""}} {
		e := parse(t, filepath.Join("testdata", "golden.yaml"))
		path := filepath.Join(t.TempDir(), "some.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(c.lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		e.Test.Resamples, e.Curves, e.Prompts, e.Datasets[0].Spec, e.Bootstrap.By = c.resamples, nil, false, "jsonl:"+path, c.by
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
		claim := res.Claim().Text
		if (undecided > 0) != said || !strings.Contains(claim, "too few "+c.few) {
			t.Errorf("%d resamples: %d undecided, said %v, %q", c.resamples, undecided, said, claim)
		}
		if claims = append(claims, claim); c.few == "segments" && claim != claims[1] {
			t.Errorf("%q, and with the judged segments only %q", claim, claims[1])
		}
	}
}

// The p-values of the pairs of a metric under a statistic are corrected together, and a
// verdict shows the p-value it is based on.
func TestOneFamily(t *testing.T) {
	res, _ := run(t, parse(t, filepath.Join("testdata", "golden.yaml")), t.TempDir())
	families := map[[2]string][]float64{}
	key := func(d experiment.Difference) [2]string { return [2]string{d.A.Metric, d.Statistic} }
	for _, d := range res.Differences {
		families[key(d)] = append(families[key(d)], float64(d.P))
	}
	if n := len(families[[2]string{"bleu", "kendall"}]); n != 6 || len(families) != 4 {
		t.Fatalf("%d pairs of BLEU, %d families", n, len(families))
	}
	seen := map[[2]string]int{}
	for _, d := range res.Differences {
		if want := significance.Holm(families[key(d)])[seen[key(d)]]; float64(d.Corrected) != want {
			t.Errorf("%s against %s: p %v, corrected %v, want %v", d.A, d.B, d.P, d.Corrected, want)
		}
		seen[key(d)]++
		if least := 1 / float64(d.Resamples+1); float64(d.P) < least {
			t.Errorf("%s against %s: p %v of %d resamples", d.A, d.B, d.P, d.Resamples)
		}
	}
	if !slices.ContainsFunc(res.Verdicts, func(v experiment.Verdict) bool { return strings.Contains(v.Text, "(Holm)") }) {
		t.Error("no verdict shows the corrected p-value")
	}
}

// fileText is the text of a file.
func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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

package experiment_test

import (
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
)

// A curve says that every further reference adds only where each does.
func TestCurveVerdict(t *testing.T) {
	// point has the value of so many references, which is off that of all 4 by an
	// interval that is 0.01 wide on either side.
	point := func(references int, value, all float64) experiment.Point {
		off := report.Number(value - all)
		return experiment.Point{References: references, Value: report.Number(value), ToAll: off, ToAllRange: &report.Range{Low: off - 0.01, High: off + 0.01}}
	}
	curve := func(values ...float64) experiment.CurveResult {
		c := experiment.CurveResult{Metric: "bleu", Aggregator: "mean", By: "order", Most: len(values)}
		for i, v := range values {
			c.Points = append(c.Points, point(i+1, v, values[len(values)-1]))
		}
		for i := len(values) - 1; i >= 0 && c.Points[i].ToAllRange.High >= 0; i-- {
			c.Enough = i + 1
		}
		return c
	}
	for name, c := range map[string]struct {
		curve experiment.CurveResult
		want  string
	}{
		"each adds": {curve(0.1, 0.12, 0.14, 0.16), "every further reference up to all 4 adds; 3 are still -0.020 [-0.030, -0.010] off"},
		"it falls, and two are as good": {curve(0.1, 0.161, 0.144, 0.166),
			"all 4 are better than 3, which are -0.022 [-0.032, -0.012] off; the value falls from 0.161 at 2 to 0.144 at 3, and 2 are not significantly below all: -0.005 [-0.015, 0.005]"},
		"it falls": {curve(0.1, 0.13, 0.12, 0.16), "all 4 are better than 3, which are -0.040 [-0.050, -0.030] off; the value falls from 0.130 at 2 to 0.120 at 3"},
		"enough":   {curve(0.1, 0.14, 0.155, 0.16), "no significant gain beyond 3 references; all 4 give +0.005 [-0.005, 0.015] more"},
	} {
		v, ok := c.curve.Verdict(false)
		if _, text, _ := strings.Cut(v.Text, "order: "); !ok || text != c.want {
			t.Errorf("%s: %q\nwant %q", name, text, c.want)
		}
	}
	// Where 90% of the gain comes before the last step, it stays to the end.
	c := curve(0.1, 0.181, 0.17, 0.183, 0.19)
	c.Points[3].ToAllRange.High = -0.001
	c.Enough = 5
	if v, _ := c.Verdict(false); strings.Contains(v.Text, "; 2 give 90%") || !strings.Contains(v.Text, "; 4 give 90% of the gain") {
		t.Errorf("%q", v.Text)
	}
}

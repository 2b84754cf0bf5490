package experiment_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
)

// ragged writes a dataset in which some segments lack their first or second reference, and
// some outputs are missing, and returns a plan for it.
func ragged(t *testing.T, plan string) *experiment.Plan {
	t.Helper()
	words := strings.Fields("the small ferry leaves old harbour at noon every second day")
	var b strings.Builder
	for i := range 40 {
		text := func(shift int) string {
			var out []string
			for k := range 6 {
				out = append(out, words[(i*7+k*(1+i%3)+k*shift*(i%5))%len(words)])
			}
			return `"` + strings.Join(out, " ") + `"`
		}
		references := []string{text(0), text(1), text(2)}[:1+i%3]
		if i%4 == 1 {
			references[0] = "null"
		}
		output := text(3)
		if i%6 == 0 {
			output = "null"
		}
		fmt.Fprintf(&b, `{"id":"s%d","references":[%s],"hypotheses":{"A":%s,"B":%s,"C":%s},"human":{"mqm":{"A":%d,"B":%d,"C":%d}}}`+"\n",
			i, strings.Join(references, ","), text(i%3), output, text(4), -(i*5)%7, -(i*3)%11, -i%13)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.jsonl"), []byte(b.String()), 0o600))
	p := parseText(t, "datasets: [{name: d, dataset: 'jsonl:d.jsonl', allow_no_reference: true}]\n"+plan)
	p.Dir = dir
	return p
}

// A point of a curve is compared with all references over their common cells, with an
// interval, so that no verdict omits it.
func TestCurvesArePaired(t *testing.T) {
	p := ragged(t, "references: [original]\nmetrics: [chrf]\nstatistics: [kendall, {statistic: kendall, group: segment}]\naggregators: [single, max]\nanalyses: []\nbootstrap: {resamples: 50}\nsignificance: {resamples: 0}\ncurves: [{by: order, aggregators: [max]}, {by: random, seeds: 3, aggregators: [max], resamples: 10}]\n")
	res := run(t, p)
	if first, last := res.Curves[0].Points[0], res.Curves[0].Points[2]; first.N >= last.N || first.Value-last.Value == first.ToAll {
		t.Fatalf("the curve lacks no cell: %+v", res.Curves[0].Points)
	}
	if len(res.Curves) != 4 || len(res.Differences) != 2 {
		t.Fatalf("%d curves of %d differences; want two of each, flattened and by segment", len(res.Curves), len(res.Differences))
	}
	for _, c := range res.Curves {
		first, at := c.Points[0], slices.IndexFunc(res.Differences, func(d experiment.Difference) bool { return d.Statistic == c.Statistic })
		all := &res.Differences[at] // max over all references against the first
		if math.Abs(float64(first.ToAll+all.Value)) > 1e-12 {
			t.Errorf("by %s, %s: the first reference is %v from all; the paired difference is %v", c.By, c.Statistic, first.ToAll, -all.Value)
		}
		if iv := first.ToAllRange; iv == nil || math.Abs(float64(iv.Low+all.Interval.High)) > 1e-12 || math.Abs(float64(iv.High+all.Interval.Low)) > 1e-12 {
			t.Errorf("by %s, %s: the interval of what all references add to the first is %v; that of the difference is %v", c.By, c.Statistic, iv, all.Interval)
		}
	}
}

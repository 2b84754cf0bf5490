package experiment_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/metrics"
)

const sample = "testdata/sample.yaml"

// Cells are scored once, whatever is computed from them.
func TestCellsAreScoredOnce(t *testing.T) {
	e := parse(t, sample)
	e.Metrics = []string{"chrf"}
	r := runner(e)
	var cells atomic.Int64
	r.Metric = func(ctx context.Context, spec string) (metrics.Metric, error) {
		m, err := registry().Parse(t.Context(), spec)
		return counted{m, &cells}, err
	}
	_, err := r.Run(t.Context(), e)
	require.NoError(t, err)
	// 8 segments × 3 systems × 4 references, without a missing hypothesis and a missing
	// reference; the wrapped metric has no native score.
	assert.Equal(t, int64(8*3*4-4-3), cells.Load())
}

// The numbers of a result are consistent.
func TestConsistency(t *testing.T) {
	e := parse(t, sample)
	e.Tasks = []experiment.Task{{Dataset: e.Datasets[0].Name, Statistic: e.Statistics[0], Weight: 1}}
	res := run(t, e)
	value := map[string]experiment.Number{}
	for _, r := range res.Rows {
		key := r.Setting.String() + " " + r.Statistic
		_, twice := value[key]
		assert.False(t, twice, "%s is there twice", key)
		value[key] = r.Value
		assert.True(t, r.Signature != "" && strings.Contains(r.Signature, "set:"), "%s: signature %q", key, r.Signature)
	}
	for _, s := range res.Same {
		for _, statistic := range res.Statistics {
			value[s.Setting.String()+" "+statistic] = value[s.As.String()+" "+statistic]
		}
	}
	for _, p := range res.Prompts {
		if p.All != value[p.Metric+" "+p.Aggregator+" all "+p.Statistic] && p.Aggregator == "max" {
			t.Errorf("prompts of %s, %s: all is %v", p.Metric, p.Statistic, p.All)
		}
		assert.Equal(t, value[p.Metric+" single original "+p.Statistic], p.Single, "prompts of %s, %s: single", p.Metric, p.Statistic)
		var sum float64
		for _, e := range p.Prompts {
			sum += float64(e.Decides)
			if e.Only > e.Decides {
				t.Errorf("%s decides alone in %v and in all in %v", e.Prompt, e.Only, e.Decides)
			}
			if e.Prompt == "order" && p.Aggregator == "max" && e.Without != value[p.Metric+" max rewritten "+p.Statistic] {
				t.Errorf("%s, %s: without order %v", p.Metric, p.Statistic, e.Without)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: the shares sum up to %v", p.Metric, sum)
		}
	}
	for _, c := range res.Curves {
		first, last := c.Points[0], c.Points[len(c.Points)-1]
		if first.Value != value[c.Metric+" single original "+c.Statistic] || last.Value != value[c.Metric+" "+c.Aggregator+" all "+c.Statistic] {
			t.Errorf("%s %s by %s, %s: the ends are %v and %v", c.Metric, c.Aggregator, c.By, c.Statistic, first.Value, last.Value)
		}
		if last.ToAll != 0 || last.ToAllRange != nil && (last.ToAllRange.Low != 0 || last.ToAllRange.High != 0) {
			t.Errorf("%s by %s: the last point is %v %v off", c.Metric, c.By, last.ToAll, last.ToAllRange)
		}
	}
	for _, d := range res.Differences {
		assert.False(t, d.Value != d.AValue-d.BValue && d.Value.Defined(), "%s against %s: %v", d.A, d.B, d.Value)
		if d.Interval != nil && d.Interval.Low > d.Interval.High {
			t.Errorf("%s against %s: %v", d.A, d.B, d.Interval)
		}
		if d.P.Defined() && d.Corrected < d.P {
			t.Errorf("%s against %s: p %v, corrected %v", d.A, d.B, d.P, d.Corrected)
		}
		// If there is a test, it decides, and otherwise the interval.
		if want := float64(d.Corrected) < 0.05; d.Corrected.Defined() && d.Value != 0 && d.Significant != want {
			t.Errorf("%s against %s: significant is %v at p %v", d.A, d.B, d.Significant, d.Corrected)
		}
		if !d.Corrected.Defined() && d.Significant && d.Interval.Contains(0) {
			t.Errorf("%s against %s: significant with %v", d.A, d.B, d.Interval)
		}
	}
	for _, entry := range res.Tasks[0].Entries {
		assert.Equal(t, value[entry.Setting.String()+" "+res.Tasks[0].Statistic], entry.Value, "task: %s", entry.Setting)
	}
	for _, k := range res.Rankings {
		if k.Systems[0].Name != "alpha" || k.Systems[0].First.Rank != 1 || len(k.Systems) != 3 {
			t.Errorf("ranking %+v", k.Systems)
		}
	}
}

// The pooled accuracy of several datasets uses pairs within each.
func TestPooled(t *testing.T) {
	e := parse(t, "testdata/golden.yaml")
	e.Curves, e.Prompts = nil, false
	other := e.Datasets[0]
	other.Name = "other"
	e.Datasets = append(e.Datasets, other)
	res := run(t, e)
	single := map[string]experiment.Row{}
	pooled := 0
	for _, r := range res.Rows {
		if want := single[r.Setting.String()]; r.Dataset == "sample" && r.Statistic == "accuracy" {
			single[r.Setting.String()] = r
		} else if r.Dataset == "pooled" {
			if pooled++; r.Value != want.Value || r.N != 2*want.N || r.Missing != 2*want.Missing || *r.Interval != *want.Interval {
				t.Errorf("%s: pooled %+v of %+v", r.Setting, r, want)
			}
		}
	}
	for _, d := range res.Differences {
		if d.Dataset == "pooled" {
			if pooled++; d.Value != d.AValue-d.BValue || d.Interval == nil || d.P.Defined() {
				t.Errorf("pooled difference %+v", d)
			}
		}
	}
	if pooled != len(single)+9 { // 6 pairs of BLEU and 3 of chrF, whose native is its max
		t.Errorf("%d pooled rows and differences", pooled)
	}
}

// Only the pairs that the file names are compared; a level that the dataset lacks is an
// error that names the segment.
func TestComparisonsAndLevels(t *testing.T) {
	e := parseText(t, `
datasets: [{name: sample, dataset: "jsonl:sample.jsonl"}]
references: [original, all, {name: some, prompts: [order, words]}]
metrics: [bleu, ter]
aggregators: [single, max, mean]
statistics: [{statistic: spearman, level: domain}]
bootstrap: {resamples: 0}
significance: {resamples: 20}
comparisons:
  - {a: {references: all, aggregator: max}, b: {references: some, aggregator: max}}
analyses: []
`)
	e.Dir = "testdata"
	res := run(t, e)
	if d := res.Differences; len(d) != 2 || d[0].A.String() != "bleu max all" || d[1].B.String() != "ter max some" || !d[0].Value.Defined() {
		t.Errorf("differences %+v", d)
	}
	e.Comparisons[0].A.Aggregator = "native"
	_, err := runner(e).Run(t.Context(), e)
	assert.ErrorContains(t, err, "no such settings", "a setting that is not there")
	e.Statistics[0].Level = correlate.DocumentLevel
	_, err = runner(e).Run(t.Context(), e)
	assert.ErrorContains(t, err, "has no document", "without documents")
}

// Equal settings are reported as such and share a row; a setting that asks for more
// references than there are is reported too.
func TestSame(t *testing.T) {
	e := parseText(t, `
datasets: [{name: sample, dataset: "jsonl:sample.jsonl"}]
references: [original, all, {first: 99}]
metrics: [bleu]
aggregators: [max, single, "best:k=30", best]
statistics: [kendall]
bootstrap: {resamples: 0}
significance: {resamples: 0}
curves: [{counts: [0, 2, 77, 99], aggregators: [max]}]
analyses: []
`)
	e.Dir = "testdata"
	r := runner(e)
	var warnings []string
	r.Warn = func(m string) { warnings = append(warnings, m) }
	res, err := r.Run(t.Context(), e)
	require.NoError(t, err)
	var rows, same []string
	for _, r := range res.Rows {
		rows = append(rows, r.Setting.String())
	}
	for _, s := range res.Same {
		same = append(same, s.Setting.String()+" is "+s.As.String())
		assert.Equal(t, s.Setting.References == "first 99", strings.HasSuffix(s.Name, "(first 99, all there are)"), s.Name)
	}
	want := []string{"bleu single original", "bleu max all", "bleu best:k=30 all"}
	assert.True(t, reflect.DeepEqual(rows, want), "rows %q, want %q", rows, want)
	if want := []string{
		"bleu max original is bleu single original", "bleu best:k=30 original is bleu single original", "bleu best:k=1 original is bleu single original",
		"bleu best:k=1 all is bleu max all", "bleu max first 99 is bleu max all", "bleu best:k=1 first 99 is bleu max all",
		"bleu best:k=30 first 99 is bleu best:k=30 all",
	}; !reflect.DeepEqual(same, want) {
		t.Errorf("the same are %q, want %q", same, want)
	}
	if d := res.Differences; len(d) != 3 || d[0].A.String() != "bleu max all" || d[0].B.String() != "bleu single original" {
		t.Errorf("differences %+v", d)
	}
	if c := res.Curves; len(c) != 1 || len(c[0].Points) != 3 || c[0].Points[2].K != 3 || len(warnings) != 1 {
		t.Errorf("curves %+v, warnings %q", c, warnings)
	}
	notes := strings.Join(res.Notes, "\n")
	for _, want := range []string{`references "first 99" are 4 references at most`, "best:k=30 is of 4 references at most"} {
		assert.Contains(t, notes, want, "no note")
	}
}

// A cancelled run ends with the context's error.
func TestCancel(t *testing.T) {
	e := parse(t, sample)
	ctx, cancel := context.WithCancel(t.Context())
	r := runner(e)
	r.Progress = func(m string) {
		if strings.Contains(m, " against ") {
			cancel()
		}
	}
	_, err := r.Run(ctx, e)
	assert.ErrorIs(t, err, context.Canceled)
}

package command

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
)

// A reference that the systems are scored against is never one of them, whoever
// is asked: mt-metrics-eval has 0.143444 for BLEU-refA and 15 systems of WMT22
// zh-en.
func TestIncludedReferencesOfWMT22(t *testing.T) {
	dir := t.TempDir()
	data, err := filepath.Abs(filepath.Join(realData(t), "mt-metrics-eval-v2", "wmt22", "zh-en"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(by string, value float64, n, systems int) {
		t.Helper()
		if math.Abs(value-0.143444) > 5e-7 || n != 28125 || systems != 15 {
			t.Errorf("%s: %v over %d cells of %d systems", by, value, n, systems)
		}
	}
	plan := filepath.Join(dir, "x.yaml")
	spec, _ := json.Marshal("mtme:" + data)
	text := "datasets:\n  - dataset: " + string(spec) + "\n    include_references: true\nmetrics: [bleu]\naggregators: [single]\n" +
		"references: [original]\nanalyses: []\nstatistics: [kendall]\nbootstrap: {resamples: 0}\nsignificance: {resamples: 0}\n"
	if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := askHere(t, "experiment", plan, "--quiet", "--table", "rows", "-f", "json")
	found := rowsOf(t, "experiment", stdout)
	if code != exitDone || len(found) != 1 {
		t.Fatalf("exit code %d, %d rows: %s", code, len(found), stderr)
	}
	check("experiment", *found[0].Value, found[0].N, *found[0].Systems)

	runner := &experiment.Runner{Metric: new(env).registry().Parse}
	res, _, err := runner.Run(context.Background(), &experiment.Plan{
		Datasets:    []experiment.Dataset{{Spec: "mtme:" + data, IncludeReferences: true}},
		Sets:        []experiment.Set{{Name: "all", Kind: experiment.KindAll}},
		Metrics:     []string{"bleu"},
		Aggregators: []aggregate.Aggregator{aggregate.Must("single")},
		Statistics:  []experiment.Statistic{{Measure: correlate.Measure{Statistic: correlate.StatKendall}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	check("the library", float64(res.Rows[0].Value), res.Rows[0].N, res.Rows[0].Systems)
	if left := strings.Join(res.Datasets[0].LeftOut, " "); left != "refA" {
		t.Errorf("%q is left out", left)
	}
}

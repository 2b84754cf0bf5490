package command

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
)

// tableRows runs refract and returns the rows of its table.
func tableRows(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdout: &out, stderr: &errs, getenv: func(string) string { return "" }}
	if code := e.run(context.Background(), append(args, "-f", "json")); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var rows []map[string]any
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// The ends of a curve are what compare says of a single reference and of all,
// to the last bit, whatever the way to choose.
func TestCurveEndsOfWMT22(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	data := realData(t)
	set := []string{"mtme:" + filepath.Join(data, "mt-metrics-eval-v2", "wmt22", "zh-en"),
		"--references", "div-ref:" + filepath.Join(data, "div-ref", "wmt22.zh-en.refA.diversified"), "--resamples", "0"}
	want := map[string]float64{}
	for _, r := range tableRows(t, append([]string{"compare", "-a", "single,max", "--statistic", "kendall"}, set...)...) {
		want[r["metric"].(string)+" "+r["aggregate"].(string)] = r["value"].(float64)
	}
	rows := tableRows(t, append([]string{"compare", "-a", "max", "--statistic", "kendall", "--curve", "order,random,farthest,facility", "-k", "0,10,99"}, set...)...)
	if len(rows) != 2*4*2 { // there are no 99 variants: that point is the one of all
		t.Errorf("%d rows, want 2 metrics × 4 ways × 2 points", len(rows))
	}
	for _, r := range rows {
		metric, end := r["metric"].(string), "max"
		if r["k"].(float64) == 0 {
			end = "single"
		}
		if r["value"] != want[metric+" "+end] || r["n"].(float64) != 26250 {
			t.Errorf("%s by %s, k %v: %v over %v pairs, compare has %v", metric, r["by"], r["k"], r["value"], r["n"], want[metric+" "+end])
		}
	}
}

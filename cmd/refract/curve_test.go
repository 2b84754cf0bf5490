package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
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
	data := realData(t)
	set := []string{"mtme:" + filepath.Join(data, "mt-metrics-eval-v2", "wmt22", "zh-en"),
		"--references", "div-ref:" + filepath.Join(data, "div-ref", "wmt22.zh-en.refA.diversified"), "--bootstrap", "0"}
	want := map[string]float64{}
	for _, r := range tableRows(t, append([]string{"compare", "-a", "single,max", "--statistic", "kendall"}, set...)...) {
		want[r["metric"].(string)+" "+r["aggregate"].(string)] = r["value"].(float64)
	}
	rows := tableRows(t, append([]string{"curve", "-k", "0,10,99", "--seeds", "2"}, set...)...)
	if len(rows) != 2*4*3 {
		t.Errorf("%d rows, want 2 metrics × 4 ways × 3 points", len(rows))
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

// A subset holds the scores of its columns, in the matrix's order.
func TestSubset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		originals, variants := rapid.IntRange(0, 3).Draw(t, "originals"), rapid.IntRange(1, 5).Draw(t, "variants")
		columns, rows := originals+variants, rapid.IntRange(0, 3).Draw(t, "rows")
		ms := refract.MetricScores{Columns: columns}
		for i := range rows * columns {
			ms.Values = append(ms.Values, float64(i))
			ms.Status = append(ms.Status, metrics.Status(i%2))
		}
		order := rapid.Permutation(indexes(variants)).Draw(t, "order")
		k := rapid.IntRange(0, variants).Draw(t, "k")
		got, some := subset(&ms, originals, order[:k])
		if some != (originals+k > 0) || got.Columns != originals+k || len(got.Values) != rows*(originals+k) {
			t.Fatalf("%d columns, %v", got.Columns, some)
		}
		chosen := map[int]bool{}
		for _, v := range order[:k] {
			chosen[originals+v] = true
		}
		at := 0
		for i := range ms.Values {
			if c := i % columns; c < originals || chosen[c] {
				if got.Values[at] != ms.Values[i] || got.Status[at] != ms.Status[i] {
					t.Fatalf("value %d is %v, want %v", at, got.Values[at], ms.Values[i])
				}
				at++
			}
		}
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

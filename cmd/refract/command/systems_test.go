package command

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/benchmarks/demo"
)

// Scores and intervals are those of refract score, and every table has the
// differences and p-values of the others.
func TestSystemsAgree(t *testing.T) {
	dir := t.TempDir()
	if err := demo.Write(dir); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Metric, Aggregate, System, Result string
		A                                 string `json:"system_a"`
		B                                 string `json:"system_b"`
		Slice, Signature                  string
		Score, Delta, P                   float64
		Mean                              float64 `json:"ci_mean"`
		CI                                []float64
	}
	ask := func(args ...string) []row {
		t.Helper()
		code, out, stderr := askHere(t, append(args, filepath.Join(dir, "sample.jsonl"), "-m", "bleu", "-m", "ter", "-a", "native,max", "-f", "json")...)
		var rows []row
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
			t.Fatalf("%v: exit %d, %v\n%s", args, code, err, stderr)
		}
		return rows
	}
	type key struct{ metric, aggregate, system string }
	scores := map[key]row{}
	for _, r := range ask("score", "--confidence") {
		scores[key{r.Metric, r.Aggregate, r.System}] = r
	}
	systems := map[key]row{}
	for _, r := range ask("systems", "--resamples", "1000") {
		k := key{r.Metric, r.Aggregate, r.System}
		if want := scores[k]; r.Score != want.Score || r.Mean != want.Mean || r.Signature != want.Signature || r.CI[0] != want.CI[0] || r.CI[1] != want.CI[1] {
			t.Errorf("systems: %+v, and score: %+v", r, want)
		}
		systems[k] = r
	}
	if len(systems) != 4*4 || len(scores) != len(systems) {
		t.Fatalf("%d and %d rows", len(systems), len(scores))
	}
	const baseline = "fine-tuned" // the first
	others := 0
	for _, table := range []string{pairsTable, slicesTable, powerTable} {
		for _, r := range ask("systems", "--table", table, "--resamples", "1000") {
			sign := 1.0
			switch {
			case table == slicesTable && r.Slice != "all":
				continue
			case table == pairsTable && r.A == baseline:
				r.System, sign = r.B, -1
			case table == pairsTable:
				continue
			}
			want := systems[key{r.Metric, r.Aggregate, r.System}]
			if r.Delta != sign*want.Delta || r.P != want.P {
				t.Errorf("%s: %+v, and systems: %+v", table, r, want)
			}
			others++
		}
	}
	if others != 3*3*4 {
		t.Errorf("%d rows of other tables", others)
	}
}

// The parts by length are four at most, and have every segment with a reference
// once; so have the parts by domain.
func TestSlices(t *testing.T) {
	d := &testedSystems{lengths: []int{5, 1, 9, 1, -1, 2, 1, 4, 3}, domains: []string{"", "", "", "", "", "", "", "", ""}}
	var got []string
	for _, p := range d.parts() {
		got = append(got, p.name)
	}
	if diff := cmp.Diff([]string{"all", "1", "2", "3–4", "5–9"}, got); diff != "" {
		t.Error(diff)
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := &testedSystems{}
		known := 0
		for range rapid.IntRange(1, 40).Draw(rt, "segments") {
			length := rapid.IntRange(-1, 12).Draw(rt, "length")
			if length >= 0 {
				known++
			}
			d.lengths = append(d.lengths, length)
			d.domains = append(d.domains, rapid.SampledFrom([]string{"", "news", "chat"}).Draw(rt, "domain"))
		}
		parts, in := map[string]int{}, map[string]int{}
		for _, p := range d.parts() {
			parts[p.by]++
			n := 0
			for i := range d.lengths {
				if p.within == nil || p.within(i) {
					n++
				}
			}
			if n != p.segments || n == 0 {
				rt.Fatalf("%s %s has %d segments, and says %d", p.by, p.name, n, p.segments)
			}
			in[p.by] += n
		}
		if parts["length"] > 4 || in["length"] != known || parts["domain"] > 0 && in["domain"] != len(d.lengths) {
			rt.Fatalf("%v parts with %v segments, of %d", parts, in, len(d.lengths))
		}
	})
}

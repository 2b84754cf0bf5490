package audit

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Counts that several processes write and one reads equal those of a single process.
func TestTrustState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, merged, part Trust
		flush := func() {
			b, err := json.Marshal(&part)
			if err == nil {
				err = json.Unmarshal(b, &merged)
			}
			if err != nil {
				t.Fatal(err)
			}
			part = Trust{}
		}
		for range rapid.IntRange(0, 20).Draw(t, "reports") {
			score := float64(rapid.IntRange(-5, 5).Draw(t, "score"))
			r := &analysis.Report{Outcome: analysis.Scored, Score: &score, Errors: []analysis.Error{{Place: analysis.Absent}}, Problems: []analysis.Problem{{Code: "total"}}}
			if rapid.Bool().Draw(t, "unparseable") {
				r = &analysis.Report{Outcome: analysis.Unparseable, Flags: []string{"x"}}
			}
			if rapid.Bool().Draw(t, "combined") {
				r.Parts = []*analysis.Report{{Outcome: analysis.Scored, Score: &score}, {Outcome: analysis.Missing}}
			}
			metric, system := rapid.SampledFrom([]string{"m", "n"}).Draw(t, "metric"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "system")
			whole.Add(metric, system, r)
			part.Add(metric, system, r)
			if rapid.Bool().Draw(t, "cut") {
				flush()
			}
		}
		flush()
		if !reflect.DeepEqual(merged.rows, whole.rows) || !reflect.DeepEqual(merged.Total("m"), whole.Total("m")) {
			t.Fatalf("%+v\n%+v", merged.rows, whole.rows)
		}
	})
}

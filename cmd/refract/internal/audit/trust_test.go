package audit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
			require.NoError(t, err)
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

// A prompt that was cut is no suspicious text, and gets a warning of its own.
func TestPromptCut(t *testing.T) {
	var trust Trust
	for _, flags := range [][]string{nil, {analysis.FlagPromptCut}, {"closing-quote"}, {"closing-quote", analysis.FlagPromptCut}} {
		trust.Add("m", "x", &analysis.Report{Outcome: analysis.NoError, Flags: flags})
	}
	if row := trust.Total("m"); row.Counts["flagged"] != 2 || row.Counts["prompt_cut"] != 2 {
		t.Errorf("%d flagged and %d cut, want 2 and 2", row.Counts["flagged"], row.Counts["prompt_cut"])
	}
	trust.Add("m", "x", &analysis.Report{Outcome: analysis.NoError, Parts: []*analysis.Report{{}, {Flags: []string{analysis.FlagPromptCut}}}})
	var out strings.Builder
	if err := WriteTrust(&out, &trust); err != nil || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "warning: m x: the server counted too few tokens for 3 of 5 prompts") {
		t.Errorf("%v in\n%s", err, &out)
	}
}

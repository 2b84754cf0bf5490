package evidence_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

type list = refract.InMemory

// Errors marked by people come before a judge's report of the same output.
func TestHumanErrorsComeFirst(t *testing.T) {
	h := hold(t, sample(), []metrics.Metric{critic{}}, "single")
	_, segments := explored(t, h, []dataset.MQMRating{
		{ID: "1", System: "a", Rater: "r1", Report: &analysis.Report{Outcome: analysis.Scored, Score: new(-5.0), Errors: []analysis.Error{
			{Location: "horse", Span: analysis.Span{Start: 7, End: 12}, Place: analysis.InHypothesis, Severity: analysis.Major},
			{Location: "Haus", Place: analysis.InSource, Severity: analysis.Minor}}}},
		{ID: "1", System: "c", Rater: "r1", Report: &analysis.Report{Outcome: analysis.NoError}},
	}...)
	of := segments[0].Outputs[0].Reports
	if len(of) != 2 || of[0].Judge != "person r1" || of[0].Errors[0].Span != [2]int{7, 12} || of[0].Errors[0].InSource || !of[0].Errors[1].InSource || of[1].Judge != "critic" {
		t.Errorf("%+v", of)
	}
	if of := segments[1].Outputs[1].Reports; len(of) != 1 || of[0].Judge != "critic" {
		t.Errorf("an output that nobody rated: %+v", of)
	}
}

// Scores have as many decimals as distinguish the scores of their metric.
func TestDigits(t *testing.T) {
	h := hold(t, sample(), []metrics.Metric{&overlap{}, &near{}}, "single")
	e, _ := explored(t, h)
	assert.True(t, e.Metrics[0].Digits == 3 && e.Settings[1].Digits == 6, "%+v, %+v", e.Metrics, e.Settings)
}

func TestExplorer(t *testing.T) {
	h := hold(t, sample(), []metrics.Metric{&overlap{}, &overlap{lower: true}, critic{}}, "single", "max", "min", "best", "mean")
	e, segments := explored(t, h)
	if !slices.Equal(e.Systems, []string{"a", "b", "c"}) || !slices.Equal(e.Humans, []string{"mqm", "da"}) ||
		!slices.Equal(e.Prompts, []string{"formal", "unnamed prompt"}) {
		t.Errorf("systems %q, judgements %q, prompts %q", e.Systems, e.Humans, e.Prompts)
	}
	if len(e.Metrics) != 2 || len(e.Settings) != 11 || e.Settings[10].Metric != -1 || e.Settings[9].Metric != 1 || !e.Settings[9].LowerIsBetter {
		t.Errorf("metrics %+v, settings %+v", e.Metrics, e.Settings)
	}
	s := segments[0]
	var prompts []int
	for _, r := range s.References {
		prompts = append(prompts, r.Prompt)
	}
	if !slices.Equal(prompts, []int{-1, 0, 1, 0}) || s.References[1].Detail != "m, sample 1" || s.References[3].Text.Valid {
		t.Errorf("references %+v", s.References)
	}
	a, b := s.Outputs[0], s.Outputs[1]
	decided := func(o page.Output) (out []int) {
		for _, c := range o.Scores {
			out = append(out, c.Decided-1)
		}
		return out
	}
	// overlap is 0.5 (is, old of four), none, 0.8; lack is 0.5, none, 0.2.
	got := decided(a)
	assert.True(t, slices.Equal(got, []int{0, 2, 0, 2, -1, 0, 0, 2, 2, -1, -1}), "decided by %v", got)
	if v := a.Scores[1].Value; math.Abs(v-0.8) > 1e-12 {
		t.Errorf("max is %v", v)
	}
	got = decided(b)
	assert.False(t, slices.ContainsFunc(got, func(d int) bool { return d >= 0 }), "a missing output is decided by %v", got)
	for k, c := range b.Scores {
		if !math.IsNaN(c.Value) {
			t.Errorf("a missing output has the score %v under %s", c.Value, e.Settings[k].Name)
		}
	}
	if row := a.Cells[0]; len(row) != 4 || math.IsNaN(row[0]) || !math.IsNaN(row[1]) || !math.IsNaN(row[3]) {
		t.Errorf("cells %v, want a NaN where there is no score", row)
	}
	if a.Human[0] != -5 || !math.IsNaN(a.Human[1]) || !math.IsNaN(b.Human[0]) {
		t.Errorf("human scores %v and %v", a.Human, b.Human)
	}
	if o := segments[1].Outputs[1]; math.IsNaN(o.Scores[0].Value) || !math.IsNaN(o.Scores[10].Value) || o.Human[1] != 40 {
		t.Errorf("an empty output: %+v", o)
	}
}

func TestJudgesInExplorer(t *testing.T) {
	_, segments := explored(t, hold(t, sample(), []metrics.Metric{critic{}}, "single"))
	r := segments[0].Outputs[0].Reports
	if len(r) != 1 || r[0].Judge != "critic" || r[0].Outcome != "scored" || r[0].Score != -4 || len(r[0].Errors) != 2 {
		t.Fatalf("reports %+v", r)
	}
	first, second := r[0].Errors[0], r[0].Errors[1]
	assert.Equal(t, "horse", string([]rune(segments[0].Outputs[0].Text.Value)[first.Span[0]:first.Span[1]]), "span %v", first.Span)
	if first.Type != "Accuracy: Terminology" || first.Severity != "major" || first.Penalty != 4 {
		t.Errorf("error %+v", first)
	}
	if second.Span != [2]int{} || !math.IsNaN(float64(second.Penalty)) {
		t.Errorf("an error that is nowhere: %+v", second)
	}
	notes := strings.Join(r[0].Notes, "\n")
	if !strings.Contains(notes, "error 2: location") || !strings.Contains(notes, "role-token") {
		t.Errorf("notes %q", notes)
	}
	assert.Len(t, segments[0].Outputs[1].Reports, 0, "a missing output is reported on")
	if r := segments[1].Outputs[1].Reports[0]; r.Outcome != "unparseable" || !math.IsNaN(float64(r.Score)) || !reflect.DeepEqual(r.Notes, []string{"no number in the answer"}) {
		t.Errorf("report %+v", r)
	}
}

func TestExplorerEndsWithContext(t *testing.T) {
	h := hold(t, sample(), []metrics.Metric{&overlap{}}, "max")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range h.Explorer(ctx, "", nil).Segments {
		if n++; n == 2 && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v after the context ended", err)
		}
		cancel()
	}
	assert.Equal(t, 2, n)
}

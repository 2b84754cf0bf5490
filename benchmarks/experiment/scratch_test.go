package experiment_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/metrics"
)

// list is a dataset in memory.
type list = refract.InMemory

// drawData makes segments with varying numbers of references and variants of three prompts,
// some of them missing.
func drawData(t *rapid.T) list {
	words := []string{"the", "red", "boat", "is", "at", "sea", "a", "small", "ship"}
	text := func() string {
		out := ""
		for range rapid.IntRange(1, 6).Draw(t, "words") {
			out += rapid.SampledFrom(words).Draw(t, "word") + " "
		}
		return out
	}
	maybe := func() refract.Text {
		return refract.Text{Value: text(), Valid: rapid.IntRange(0, 7).Draw(t, "there") > 0}
	}
	var data list
	for i := range rapid.IntRange(3, 7).Draw(t, "segments") {
		s := &refract.Segment{ID: fmt.Sprint(i), References: []refract.Text{refract.NewText(text())}}
		for range rapid.IntRange(0, 2).Draw(t, "originals") {
			s.References = append(s.References, maybe())
		}
		for r := range s.References {
			for _, p := range []string{"p1", "p2", "p3"} {
				if rapid.Bool().Draw(t, "variant") {
					s.Variants = append(s.Variants, refract.Variant{Reference: r, Prompt: p, Text: maybe()})
				}
			}
		}
		for h := range 3 {
			name := fmt.Sprint("s", h)
			s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: name, Text: maybe()})
			s.Judgements = append(s.Judgements, refract.Judgement{Name: "mqm", System: name, Score: float64(rapid.IntRange(-5, 0).Draw(t, "score")), Valid: true})
		}
		data = append(data, s)
	}
	// Every prompt of the file must occur.
	for _, p := range []string{"p1", "p2", "p3"} {
		data[0].Variants = append(data[0].Variants, refract.Variant{Prompt: p, Text: refract.NewText(text())})
	}
	return data
}

// chosen returns a copy of the segments with only the references of a set.
func chosen(data list, set string) list {
	var out list
	for _, s := range data {
		c := *s
		c.Variants = nil
		left := math.MaxInt
		if set == "first" {
			left = 2 - len(s.References)
			c.References = s.References[:min(2, len(s.References))]
		}
		for _, v := range s.Variants {
			keep := map[string]bool{
				"original": false, "prompts": v.Prompt != "p2", "first": left > 0,
			}[set]
			if keep {
				c.Variants = append(c.Variants, v)
				left--
			}
		}
		out = append(out, &c)
	}
	return out
}

// fromScratch scores a dataset anew and returns Kendall's tau-b with the number of pairs.
func fromScratch(t *rapid.T, data list, metric, aggregate string) (value float64, n int) {
	m, err := registry().Parse(context.Background(), metric)
	require.NoError(t, err)
	set := refract.Setting{Metric: m, Aggregator: aggregator(t, aggregate)}
	engine, err := refract.NewEngine([]refract.Setting{set}, refract.Options{AllowNoReferences: true})
	require.NoError(t, err)
	p := correlate.NewPairs(len(data), 3)
	reducer := engine.Reducer()
	at := 0
	err = engine.Run(context.Background(), data, func(s *refract.SegmentScores) error {
		for h := range s.Segment.Hypotheses {
			red, err := reducer.Reduce(s, 0, h)
			require.NoError(t, err)
			p.Metric[at], p.MetricOK[at] = float64(m.Info().Direction)*red.Value, red.Status == metrics.Scored
			p.Gold[at], p.GoldOK[at] = s.Segment.Judgements[h].Score, true
			at++
		}
		return nil
	})
	require.NoError(t, err)
	res, err := correlate.Measure{}.Of(p)
	require.NoError(t, err)
	return res.Value, res.N
}

// Selecting columns from the cells gives the same as scoring the chosen references from
// scratch.
func TestSubsetsEqualScoringFromScratch(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	e := parseText(t, `
datasets: [{name: d, dataset: "jsonl:none"}]
references:
  - original
  - {name: prompts, prompts: [p1, p3]}
  - {name: first, first: 2}
metrics: [chrf]
aggregators: [single, max, mean, native]
statistics: [kendall]
bootstrap: {resamples: 0}
significance: {resamples: 0}
analyses: []
`)
	rapid.Check(t, func(rt *rapid.T) {
		data := drawData(rt)
		r := &experiment.Runner{Metric: registry().Parse, Open: func(experiment.Dataset) (refract.Dataset, error) { return data, nil }}
		res, err := r.Run(t.Context(), e)
		require.NoError(rt, err)
		var sets []string
		for _, row := range res.Rows {
			want, n := fromScratch(rt, chosen(data, row.Setting.References), row.Setting.Metric, row.Setting.Aggregator)
			got := float64(row.Value)
			if row.N != n || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				rt.Fatalf("%+v: %v over %d, from scratch %v over %d", row.Setting, got, row.N, want, n)
			}
			sets = append(sets, row.Setting.References)
		}
		for _, same := range res.Same { // equal by chance
			sets = append(sets, same.Setting.References)
		}
		slices.Sort(sets)
		got := slices.Compact(sets)
		require.GreaterOrEqual(rt, len(got), 2, "only the sets %v have rows", got)
	})
}

package experiment_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
)

// Systems of the same quality: the variants of a model have the words of one of
// them, or of none.
func TestFamilies(t *testing.T) {
	const vocabulary = "river teacher market engine garden letter city winter lamp boat tree house stone road field bridge"
	words := strings.Fields(vocabulary)
	for _, related := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(1, 2))
		sentence := func() string {
			var out []string
			for range 8 {
				out = append(out, words[rng.IntN(len(words))])
			}
			return strings.Join(out, " ")
		}
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, "set.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		enc := json.NewEncoder(f)
		for i := range 60 {
			reference, own := sentence(), sentence()
			variant := sentence()
			if related {
				variant = own[:len(own)/2] + " " + sentence()
			}
			systems, quality := map[string]string{"own": own}, map[string]float64{"own": rng.Float64()}
			for _, s := range []string{"b", "c", "d"} {
				systems[s], quality[s] = sentence(), rng.Float64()
			}
			err := enc.Encode(map[string]any{
				"id": fmt.Sprint(i), "references": []string{reference}, "hypotheses": systems, "human": map[string]any{"quality": quality},
				"variants": []any{map[string]any{"reference": 0, "prompt": "translate", "model": "gpt", "text": variant}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		e := parseText(t, `
datasets: [{name: made, dataset: "jsonl:`+f.Name()+`"}]
references: [original, {name: translated, prompts: translation}]
metrics: [chrf]
aggregators: [single, max]
statistics: [pearson, kendall]
bootstrap: {resamples: 200}
significance: {resamples: 0}
analyses: [strata]
families: {mine: [gpt, own], other: [llama, b]}
`)
		res, _ := run(t, e, t.TempDir())
		names := map[string]int{}
		for _, s := range res.Strata {
			if s.Dimension != "family" {
				continue
			}
			names[s.Statistic+" "+s.Name]++
			if s.Statistic == "favour" {
				favours := s.Interval != nil && s.Interval.Low > 0
				if favours != related || s.N != 240 || s.Value != s.AValue-s.BValue {
					t.Errorf("related %v: %+v %v", related, s, s.Interval)
				}
			} else if want := map[string]int{"1 system of mine": 60, "3 systems not of mine": 180}[s.Name]; s.N+s.Missing != want {
				t.Errorf("%s, %s: %d and %d of %d", s.Statistic, s.Name, s.N, s.Missing, want)
			}
		}
		for _, want := range []string{"favour 1 system of mine", "kendall 1 system of mine", "pearson 3 systems not of mine"} {
			if names[want] != 1 {
				t.Errorf("%s: %d in %v", want, names[want], names)
			}
		}
		says := "it cannot be told to favour them or others"
		if related {
			says = "favours them"
		}
		if !slices.ContainsFunc(res.Verdicts, func(v experiment.Verdict) bool {
			return strings.Contains(v.Text, "scores of 1 system of mine rise by") && strings.Contains(v.Text, says)
		}) {
			t.Errorf("no verdict that it %s: %v", says, res.Verdicts)
		}
		table, err := res.Table("strata")
		if err != nil || len(table.Rows) == 0 {
			t.Error(err)
		}
	}
}

package doubt_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/doubt"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The curve of docs/checks.md: the share of each kind that is flagged where a
// share of the released answers is, those that nothing was fitted on.
func TestCurve(t *testing.T) {
	measures := []struct {
		name string
		of   func(s sample) float64
	}{
		{"words", func(s sample) float64 { return doubt.Of(s.Reference, s.Answer) }},
	}
	groups := []struct {
		name string
		in   func(s sample) bool
	}{
		{"SmolLM2, lost", func(s sample) bool { return s.Model != "hand" && s.Lost }},
		{"SmolLM2, kept", func(s sample) bool { return s.Model != "hand" && !s.Lost }},
		{"by hand, kept", func(s sample) bool { return s.Model == "hand" && !s.Lost }},
		{"by hand, lost", func(s sample) bool { return s.Model == "hand" && s.Lost && s.Kind != "other" }},
		{"  negation", func(s sample) bool { return s.Kind == "negation" }},
		{"  swap", func(s sample) bool { return s.Kind == "swap" }},
		{"  name", func(s sample) bool { return s.Kind == "name" }},
		{"  clause-lost", func(s sample) bool { return s.Kind == "clause-lost" }},
		{"  clause-added", func(s sample) bool { return s.Kind == "clause-added" }},
		{"another text", func(s sample) bool { return s.Kind == "other" }},
	}
	all, marked := released(t), labelled(t)
	var b strings.Builder
	fmt.Fprintf(&b, "%-9s %-16s %5s %5s %5s %5s %5s %5s\n", "measure", "answers", "n", "2%", "5%", "10%", "20%", "30%")
	for _, m := range measures {
		var doubts []float64
		for _, s := range all {
			if s.ID%2 == 1 {
				doubts = append(doubts, m.of(s))
			}
		}
		slices.Sort(doubts)
		slices.Reverse(doubts)
		for _, g := range groups {
			var caught [5]float64
			n := 0
			for _, s := range marked {
				if !s.test() || !g.in(s) {
					continue
				}
				n++
				d := m.of(s)
				for i, share := range []int{2, 5, 10, 20, 30} {
					if d > doubts[len(doubts)*share/100] {
						caught[i]++
					}
				}
			}
			fmt.Fprintf(&b, "%-9s %-16s %5d", m.name, g.name, n)
			for _, c := range caught {
				fmt.Fprintf(&b, " %5.0f", 100*c/float64(n))
			}
			b.WriteByte('\n')
		}
	}
	golden := filepath.Join("testdata", "curve.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// About one in ten of the released answers that pass all checks is at the
// limit or above, also in languages that nothing was fitted on.
func TestLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it judges 56,250 answers")
	}
	for _, x := range []struct {
		pair        string
		least, most float64
	}{
		{"zh-en", 9, 11},
		{"en-de", 10, 15},
		{"en-ru", 5, 11},
	} {
		reference := "wmt22." + x.pair + ".refA.txt"
		if x.pair == "zh-en" {
			reference = realData(t, "mt-metrics-eval-v2", "wmt22", "references", "zh-en.refA.txt")
		} else {
			reference = realData(t, "div-ref", reference)
		}
		c, err := check.New(check.Config{})
		if err != nil {
			t.Fatal(err)
		}
		counts := diversify.NewCounts(c)
		n, flagged := 0, 0
		for s, err := range open(t, reference, realData(t, "div-ref", "wmt22."+x.pair+".refA.diversified")).Segments(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			judged, err := counts.Add(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range judged.Variants {
				n++
				if doubt.Of(judged.References[v.Reference].Value, v.Text.Value) >= doubt.Limit {
					flagged++
				}
			}
		}
		share := 100 * float64(flagged) / float64(n)
		t.Logf("%s: %.1f %% of %d", x.pair, share, n)
		if share < x.least || share > x.most {
			t.Errorf("%s: %.1f %% are doubtful, not %v to %v %%", x.pair, share, x.least, x.most)
		}
	}
}

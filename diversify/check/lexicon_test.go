package check_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/diversify/check"
)

// Phrases are what the reference has not, in its form, and pairs with one such or at an edge.
func TestPhrases(t *testing.T) {
	for _, x := range []struct{ reference, text, want string }{
		{"The cat sat.", "A cat sat.", "a|^ a|a cat|sat $"},
		{"The cat sat.", "The cats sat!", "^ the|!|sat !|! $"},
		{"The cat sat.", "the cat sat 3 times", "^ the|#|sat #|times|# times|times $"},
		{"3 cats", "12 cats", "#|^ #|# cats|cats $"},
		{"I can.", "I can’t.", "^ i|can’t|i can’t|can’t $"},
		{"猫坐着。", "猫睡着。", "猫睡|^ 猫睡|睡着|猫睡 睡着|睡着 着|着 $"},
		{"The cat sat.", "", "^ $"},
	} {
		if got := strings.Join(check.Phrases(x.reference, x.text), "|"); got != x.want {
			t.Errorf("of %q beside %q: %s, want %s", x.text, x.reference, got, x.want)
		}
	}
}

// The tables that are in use go together: every phrase has one weight, and no question is about
// an aspect that there is not.
func TestTables(t *testing.T) {
	lexicon := check.Lexicon()
	if lexicon["sentence"] <= 0 || lexicon["paraphrase"] <= 0 {
		t.Error("talk is not told from rewritings")
	}
	c := newChecker(t, check.Config{})
	blocks := check.Blocks(c, "Here it is:\n\nA cat was sitting.", "The cat sat.")
	if len(blocks) == 0 {
		t.Fatal("no block")
	}
	asked := check.Asked()
	if most := slices.Max(asked); most >= len(blocks[0].X) {
		t.Errorf("the forest asks for aspect %d of %d", most, len(blocks[0].X))
	}
}

// A forest sums what its trees answer.
func TestForest(t *testing.T) {
	f := check.ForestOf("0<1.5 1<0 10 20 30\n-0.5\n")
	for _, x := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{1, -1}, 9.5},
		{[]float64{1, 0}, 19.5},
		{[]float64{1.5, -1}, 29.5},
	} {
		if got := f(x.x); got != x.want {
			t.Errorf("of %v: %v, want %v", x.x, got, x.want)
		}
	}
}

// A text is found in the smallest block that has it, by preference in what is kept.
func TestHolding(t *testing.T) {
	const reference = "The cat sat on the mat."
	for _, x := range []struct{ before, text, want string }{
		{"A cat was sitting on the mat.", "A cat was sitting on the mat.", "A cat was sitting on the mat."},
		{"Sure! Here you go:\n\nA cat was sitting on the mat.", "A cat was sitting on the mat.", "A cat was sitting on the mat."},
		{"Sure! \"A cat sat on a mat\" is what I would say.", "A cat sat on a mat", "\"A cat sat on a mat\" is what I would say."},
		{"A cat sat there. Hm. The mat had a cat on it.", "The mat had a cat on it.", "The mat had a cat on it."},
		{"A cat sat there.", "Another text.", ""},
		{"A cat sat there.", "!", ""},
	} {
		if got := check.Holding(reference, x.before, x.text); got != x.want {
			t.Errorf("%q in %q: %q, want %q", x.text, x.before, got, x.want)
		}
	}
}

// phrased is a part of which it is known whether it is talk.
type phrased struct {
	phrases []string
	yes     bool
}

// lexiconOf fits the weights of phrases, by coordinates, each a step of Newton's at a time.
// Rare phrases, and those with small weights, are left out.
func lexiconOf(parts []phrased) map[string]float64 {
	const (
		rare, small = 4, 0.3
		squares     = 1 / 0.3
	)
	count := map[string]int{}
	for _, p := range parts {
		for _, f := range p.phrases {
			count[f]++
		}
	}
	names := []string{""}
	for _, f := range slices.Sorted(maps.Keys(count)) {
		if count[f] >= rare {
			names = append(names, f)
		}
	}
	index := map[string]int{}
	for i, f := range names {
		index[f] = i
	}
	rows := make([][]int32, len(names)) // where they occur, once for each time
	for i, p := range parts {
		rows[0] = append(rows[0], int32(i))
		for _, f := range p.phrases {
			if k, ok := index[f]; ok {
				rows[k] = append(rows[k], int32(i))
			}
		}
	}
	w, sums := make([]float64, len(names)), make([]float64, len(parts))
	for range 25 {
		for k, in := range rows {
			g, h := -squares*w[k], float64(squares)
			for _, i := range in {
				p := 1 / (1 + math.Exp(-sums[i]))
				if parts[i].yes {
					g++
				}
				g -= p
				h += p * (1 - p)
			}
			step := max(-1, min(1, g/h))
			w[k] += step
			for _, i := range in {
				sums[i] += step
			}
		}
	}
	out := map[string]float64{}
	for k, f := range names {
		if math.Abs(w[k]) >= small || k == 0 {
			out[f] = math.Round(10*w[k]) / 10
		}
	}
	return out
}

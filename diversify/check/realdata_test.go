package check_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
)

// realData finds a file below $REFRACT_DATA, or below shared/data beside the
// repository, or skips the test.
func realData(t *testing.T, path ...string) string {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no %s; set REFRACT_DATA to a folder that has it", file)
	}
	return file
}

// released is a set that Div-Ref's authors released: ten answers to each
// reference of WMT22. Where references is false, the references are made up,
// for the counts that do not depend on them. Those of en-de and en-ru
// lie beside the sets, as wmt22.en-de.refA.txt.
func released(t *testing.T, pair string, references bool) refract.Dataset {
	t.Helper()
	variants := realData(t, "div-ref", "wmt22."+pair+".refA.diversified")
	var ref string
	switch {
	case !references:
		b, err := os.ReadFile(variants)
		if err != nil {
			t.Fatal(err)
		}
		ref = filepath.Join(t.TempDir(), "ref.txt")
		if err := os.WriteFile(ref, bytes.Repeat([]byte("None\n"), bytes.Count(b, []byte("\n"))), 0o644); err != nil {
			t.Fatal(err)
		}
	case pair == "zh-en":
		ref = realData(t, "mt-metrics-eval-v2", "wmt22", "references", "zh-en.refA.txt")
	default:
		ref = realData(t, "div-ref", "wmt22."+pair+".refA.txt")
	}
	ds, err := dataset.OpenLines(dataset.LinesSpec{References: []string{ref}}, dataset.Options{})
	if err == nil {
		ds, err = dataset.WithReferences(ds, "div-ref-lines:"+variants, dataset.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// count checks a set. It returns the counts, and how many answers lost a list
// number.
func count(t *testing.T, c *check.Checker, ds refract.Dataset) (n *diversify.Counts, numbered int) {
	t.Helper()
	n = diversify.NewCounts(c, 0)
	for s, err := range ds.Segments(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		judged, err := n.AddVariants(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range slices.Concat(judged.Variants, judged.Rejected) {
			if raw := v.Origin.Raw.Value; slices.Contains(v.Origin.Cleaned, check.StepList) && raw[0] >= '0' && raw[0] <= '9' {
				numbered++
			}
		}
	}
	return n, numbered
}

// answers are the counts that are not 0, by name.
func answers(counts []diversify.Count) map[string]int {
	out := map[string]int{}
	for _, c := range counts {
		if c.Answers > 0 {
			out[c.Name] = c.Answers
		}
	}
	return out
}

// The shares of segments with exact duplicates are known.
func TestExactDuplicates(t *testing.T) {
	exact := newChecker(t, check.Config{Cleaning: []string{}, Checks: []string{check.ReasonDuplicate}, Exact: true})
	for _, x := range []struct {
		pair                 string
		segments, duplicates int
	}{
		{"zh-en", 1875, 346}, // 18.5 %
		{"en-de", 2037, 682}, // 33.5 %
		{"en-ru", 2037, 549}, // 27.0 %
	} {
		t.Run(x.pair, func(t *testing.T) {
			n, _ := count(t, exact, released(t, x.pair, false))
			i := slices.IndexFunc(n.Verdicts(), func(c diversify.Count) bool { return c.Name == check.ReasonDuplicate })
			if got := n.Verdicts()[i].Segments; n.Answers != 10*x.segments || got != x.duplicates {
				t.Errorf("%d answers, %d segments with exact duplicates; want %d and %d", n.Answers, got, 10*x.segments, x.duplicates)
			}
		})
	}
}

// What the rules find in the released sets, so that a change of them shows.
// About 1.3 % of the answers are known to begin with a leaked list number.
func TestReleasedSets(t *testing.T) {
	for _, x := range []struct {
		pair            string
		numbered        int // answers that lost a list number
		verdicts, steps map[string]int
	}{
		{
			"zh-en", 258, // 1.4 %
			map[string]int{"accepted": 17406, "copy": 85, "cut": 202, "duplicate": 674, "garbled": 1, "length": 5, "numbers": 153, "refusal": 126, "unclear": 98},
			map[string]int{"alternatives": 11, "lead-in": 50, "list": 397, "markup": 1, "note": 5, "quotes": 153, "talk": 49},
		},
		{
			"en-de", 301, // 1.5 %
			map[string]int{"accepted": 18440, "copy": 253, "cut": 399, "duplicate": 1206, "empty": 1, "garbled": 5, "length": 2, "numbers": 24, "refusal": 16, "unclear": 24},
			map[string]int{"alternatives": 4, "lead-in": 12, "list": 413, "note": 31, "quotes": 319, "restated": 11, "talk": 19},
		},
		{
			"en-ru", 196, // 1.0 %
			map[string]int{"accepted": 18313, "copy": 407, "cut": 491, "duplicate": 957, "empty": 1, "garbled": 9, "length": 3, "numbers": 46, "refusal": 114, "unclear": 29},
			map[string]int{"alternatives": 3, "lead-in": 7, "list": 234, "note": 101, "quotes": 266, "restated": 16, "talk": 27, "unicode": 2},
		},
	} {
		t.Run(x.pair, func(t *testing.T) {
			var cfg check.Config
			for _, p := range append(diversify.Ten(), diversify.Prompts()[10]) {
				cfg.Prompts = append(cfg.Prompts, p.Text)
			}
			n, numbered := count(t, newChecker(t, cfg), released(t, x.pair, true))
			if numbered != x.numbered {
				t.Errorf("%d list numbers, want %d", numbered, x.numbered)
			}
			if d := cmp.Diff(x.verdicts, answers(n.Verdicts())); d != "" {
				t.Errorf("verdicts (-want +got):\n%s", d)
			}
			if d := cmp.Diff(x.steps, answers(n.Steps())); d != "" {
				t.Errorf("cleaning (-want +got):\n%s", d)
			}
		})
	}
}

// People who translate the same source seldom trip a check, copies aside, and
// where they do, the numbers do differ in most cases.
func TestHumanReferences(t *testing.T) {
	spec := "mtme:" + realData(t, "mt-metrics-eval-v2", "wmt22") + "/zh-en"
	ds, err := dataset.Open(spec, dataset.Options{References: []string{"refA", "refB"}})
	if err != nil {
		t.Fatal(err)
	}
	n := diversify.NewCounts(newChecker(t, check.Config{}), 0)
	for s, err := range ds.Segments(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := n.AddReferences(s); err != nil {
			t.Fatal(err)
		}
	}
	got, cleaned := answers(n.Verdicts()), len(answers(n.Steps()))
	if d := cmp.Diff(map[string]int{"accepted": 1636, "copy": 179, "cut": 8, "garbled": 1, "numbers": 24, "refusal": 7, "unclear": 20}, got); d != "" || cleaned > 4 {
		t.Errorf("%d steps cleaned; verdicts (-want +got):\n%s", cleaned, d)
	}
}

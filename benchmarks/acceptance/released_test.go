package acceptance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/acceptance"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// What the checks make of released references and rewritings inside the wordings.
func TestReleased(t *testing.T) {
	bases := map[string][]acceptance.Base{}
	eachReleased(t, func(pair string, n int, s *refract.Segment) {
		b, ok := baseOf(s, pair[len(pair)-2:])
		if !ok || n%10 > 1 {
			return
		}
		b.Name = fmt.Sprintf("%s-%d", pair, n)
		part := []string{acceptance.Tuning, acceptance.Second}[n%10]
		bases[part] = append(bases[part], b)
	})
	for part, all := range bases {
		if len(all) < 200 {
			t.Errorf("%s: %d bases", part, len(all))
		}
	}
	c := newCheckers(t)
	golden(t, "released"+c.suffix()+".md", figures(t, c, bases, 12))
}

// eachReleased calls yield with the segments of Div-Ref's released sets, counted from 1,
// or skips the test where they are missing.
func eachReleased(t *testing.T, yield func(pair string, n int, s *refract.Segment)) {
	t.Helper()
	dir := os.Getenv("REFRACT_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "div-ref")); err != nil {
		t.Skipf("real data is missing: put div-ref and mt-metrics-eval-v2 into ../shared/data, or name their folder in REFRACT_DATA (%v)", err)
	}
	for _, pair := range []string{"zh-en", "en-de", "en-ru"} {
		var ds refract.Dataset
		var err error
		if pair == "zh-en" {
			ds, err = dataset.Open("mtme:"+filepath.Join(dir, "mt-metrics-eval-v2", "wmt22", pair), dataset.Options{NoJudgements: true})
		} else {
			ds, err = dataset.OpenLines(dataset.LinesSpec{References: []string{filepath.Join(dir, "div-ref", "wmt22."+pair+".refA.txt")}}, dataset.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if ds, err = dataset.WithReferences(ds, "div-ref-lines:"+filepath.Join(dir, "div-ref", "wmt22."+pair+".refA.diversified"), dataset.Options{}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for s, err := range ds.Segments(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			yield(pair, n, s)
		}
	}
}

// baseOf makes a base of a segment, if it has two rewritings that are surely
// nothing but that: of the reference's form, and other than it and each other.
func baseOf(s *refract.Segment, lang string) (acceptance.Base, bool) {
	b := acceptance.Base{Language: lang, Reference: strings.TrimSpace(s.References[0].Value)}
	// The ones with notes about voice, tense, tone and style stay away.
	for _, k := range []int{5, 0, 1, 2} {
		text := s.Variants[k].Text.Value
		switch {
		case !alike(b.Reference, text):
		case b.Answer == "":
			b.Answer = text
		case b.Second == "" && letters(text) != letters(b.Answer):
			b.Second = text
		}
	}
	return b, b.Second != ""
}

// alike reports whether a text has the form of the reference: it begins and ends
// as that does, has the same marks and digits and a similar length, but other
// words.
func alike(reference, text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	refEnd, _ := utf8.DecodeLastRuneInString(reference)
	end, _ := utf8.DecodeLastRuneInString(text)
	n, of := utf8.RuneCountInString(text), utf8.RuneCountInString(reference)
	// Where the reference has no stop, that of a long text may have been cut.
	ends := end == refEnd && strings.ContainsRune(".!?", end) || unicode.IsLetter(end) && unicode.IsLetter(refEnd) && n < 80
	return unicode.IsUpper(first) && ends && 10*n >= 6*of && 10*n <= 17*of && of >= 8 &&
		marks(text) == marks(reference) && letters(text) != letters(reference)
}

// marks are the digits and marks of a text other than stops and commas, sorted.
func marks(s string) string {
	var r []rune
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsSpace(c) && !strings.ContainsRune(".,!?'’-", c) {
			r = append(r, c)
		}
	}
	slices.Sort(r)
	return string(r)
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// The tables of docs/checks.md are those that were measured with language models.
func TestDocs(t *testing.T) {
	var tables []string
	for _, name := range []string{"builtin.md", "released.md", "outside.md", "outside2.md", "outside3.md", "outside4.md", "outside5.md", "heldout.md"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, string(text))
	}
	path := filepath.Join("..", "..", "docs", "checks.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- acceptance: written by the test -->\n", "<!-- acceptance: end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place between %q and %q", path, begin, end)
	}
	want := before + begin + strings.Join(tables, "\n") + end + after
	switch {
	case want == string(text):
	case !*update:
		t.Errorf("the tables of %s are not those of testdata; run go test ./benchmarks/acceptance -update", path)
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

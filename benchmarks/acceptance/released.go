package acceptance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// ErrNoData says that the released sets are not at hand.
var ErrNoData = errors.New("real data is missing: put div-ref and mt-metrics-eval-v2 into ../shared/data, or name their folder in REFRACT_DATA")

// eachReleased calls yield with the segments of Div-Ref's released sets, counted from 1.
func eachReleased(ctx context.Context, dir string, yield func(pair string, n int, s *refract.Segment)) error {
	if _, err := os.Stat(filepath.Join(dir, "div-ref")); err != nil {
		return fmt.Errorf("%w (%w)", ErrNoData, err)
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
			return err
		}
		if ds, err = dataset.WithReferences(ds, "div-ref-lines:"+filepath.Join(dir, "div-ref", "wmt22."+pair+".refA.diversified"), dataset.Options{}); err != nil {
			return err
		}
		n := 0
		for s, err := range ds.Segments(ctx) {
			if err != nil {
				return err
			}
			n++
			yield(pair, n, s)
		}
	}
	return nil
}

// ReleasedBases makes bases of two tenths of the segments of the released sets below
// dir, one for each part.
func ReleasedBases(ctx context.Context, dir string) (map[string][]Base, error) {
	bases := map[string][]Base{}
	err := eachReleased(ctx, dir, func(pair string, n int, s *refract.Segment) {
		b, ok := baseOf(s, pair[len(pair)-2:])
		if !ok || n%10 > 1 {
			return
		}
		b.Name = fmt.Sprintf("%s-%d", pair, n)
		part := []string{Tuning, Second}[n%10]
		bases[part] = append(bases[part], b)
	})
	return bases, err
}

// ReleasedAnswers returns the answers of three in ten segments of the released sets below dir,
// as clean items. Some few are no rewritings.
func ReleasedAnswers(ctx context.Context, dir string) ([]Item, error) {
	var items []Item
	err := eachReleased(ctx, dir, func(pair string, n int, s *refract.Segment) {
		if d := n % 10; d != 2 && d != 4 && d != 7 {
			return
		}
		for i, v := range s.Variants {
			items = append(items, Item{Name: fmt.Sprintf("%s-%d/%d", pair, n, i+1), Family: "released", Language: pair[len(pair)-2:],
				Reference: s.References[0].Value, Raw: v.Text.Value, Usable: true, Want: v.Text.Value})
		}
	})
	return items, err
}

// baseOf makes a base of a segment, if it has two rewritings that are surely
// nothing but that: of the reference's form, and other than it and each other.
func baseOf(s *refract.Segment, lang string) (Base, bool) {
	b := Base{Language: lang, Reference: strings.TrimSpace(s.References[0].Value)}
	// The ones with notes about voice, tense, tone and style stay away.
	for _, k := range []int{5, 0, 1, 2} {
		text := s.Variants[k].Text.Value
		switch {
		case !alike(b.Reference, text):
		case b.Answer == "":
			b.Answer = text
		case b.Second == "" && Letters(text) != Letters(b.Answer):
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
		marks(text) == marks(reference) && Letters(text) != Letters(reference)
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

// Letters are those of a text in lower case, without all that stands between them.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

package dataset

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset/internal/matfile"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// PASCAL-50S (Vedantam et al., "CIDEr", CVPR 2015) is released as two MATLAB
// files. pair_pascal.mat has, for each pair, the image and the two candidates
// (new_input) and the category (1 to 4). consensus_pascal.mat has the votes
// (triplets): a reference, the two candidates, and 1 where the first of them is
// more like the reference, or -1. The votes of a pair follow each other, and
// each pair has as many.
const (
	pairsFile     = "pair_pascal.mat"
	consensusFile = "consensus_pascal.mat"
)

// pascalCategories are the pairs: two correct captions by people, a correct
// and a wrong one by people, one by a person and one by a machine, and two by
// machines.
var pascalCategories = []string{"HC", "HI", "HM", "MM"}

func openPascal50S(place string, o Options) (*set, error) {
	return openHeld(place, o, func(warn func(Warning)) ([]*refract.Segment, error) {
		segments, err := readPairs(filepath.Join(place, pairsFile))
		if err != nil {
			return nil, err
		}
		return segments, addVotes(filepath.Join(place, consensusFile), segments, warn)
	})
}

// variable reads a variable of a MATLAB file.
func variable(path, name string) (*matfile.Array, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	a, err := matfile.Find(b, name)
	if err != nil {
		return nil, failFile(path, "%w", err)
	}
	return a, nil
}

// records yields the elements of a structure array with a number of fields,
// of which the places count and not the names.
func records(path, name string, fields int, each func(i int, fields []*matfile.Array) error) error {
	a, err := variable(path, name)
	if err != nil {
		return err
	}
	if a.Class != matfile.Struct || len(a.Fields) != fields {
		return failFile(path, "%s must be a structure array with %d fields, not %d (%s)", name, fields, len(a.Fields), quotedNames(a.Fields))
	}
	row := make([]*matfile.Array, 0, fields)
	i := 0
	for item, err := range a.Items() {
		if err == nil {
			if row = append(row, item); len(row) < fields {
				continue
			}
			err = each(i, row)
			row = row[:0]
			i++
		}
		if err != nil {
			return failFile(path, "%s(%d): %w", name, i+1, err)
		}
	}
	return nil
}

func readPairs(path string) ([]*refract.Segment, error) {
	var segments []*refract.Segment
	err := records(path, "new_input", 3, func(i int, f []*matfile.Array) error {
		var texts [3]string
		for k := range f {
			var err error
			if texts[k], err = f[k].Text(); err != nil {
				return err
			}
		}
		s := &refract.Segment{ID: ordinal(i), Document: strings.TrimSpace(texts[0]), Pos: refract.Position{File: path, Line: i + 1}}
		setPreference(s, caption(texts[1]), caption(texts[2]), 0, 0, true)
		segments = append(segments, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a, err := variable(path, "category")
	if err != nil {
		return nil, err
	}
	categories, err := a.Numbers()
	if err != nil {
		return nil, failFile(path, "category: %w", err)
	}
	if len(categories) != len(segments) {
		return nil, failFile(path, "%s, but %s in new_input; each pair has one", english.Count(len(categories), "category number"), english.Count(len(segments), "pair"))
	}
	for i, c := range categories {
		k := int(c)
		if float64(k) != c || k < 1 || k > len(pascalCategories) {
			return nil, failFile(path, "category(%d) is %g; want 1 to %d", i+1, c, len(pascalCategories))
		}
		segments[i].Domain = pascalCategories[k-1]
	}
	return segments, nil
}

// caption is a text without the white space around it, in which the two files
// differ.
func caption(s string) refract.Text { return refract.NewText(strings.TrimSpace(s)) }

// addVotes adds the references and the votes to the pairs. The candidates are
// those that people voted on; it warns where they are not the pair's.
func addVotes(path string, segments []*refract.Segment, warn func(Warning)) error {
	a, err := variable(path, "triplets")
	if err != nil {
		return err
	}
	if len(segments) == 0 || a.Len() == 0 || a.Len()%len(segments) != 0 {
		return failFile(path, "%s for %s; each pair must have as many", english.Count(a.Len(), "vote"), english.Count(len(segments), "pair"))
	}
	each := a.Len() / len(segments)
	var differ examples
	err = records(path, "triplets", 4, func(i int, f []*matfile.Array) error {
		var texts [3]refract.Text
		for k := range texts {
			t, err := f[k].Text()
			if err != nil {
				return err
			}
			texts[k] = caption(t)
		}
		winner, err := f[3].Number()
		if err != nil {
			return err
		}
		if winner != 1 && winner != -1 {
			return fmt.Errorf("the winner is %g; want 1 or -1", winner)
		}
		s := segments[i/each]
		b, c := &s.Hypotheses[0].Text, &s.Hypotheses[1].Text
		if i%each == 0 && !sameTwo(texts[1], texts[2], *b, *c) {
			differ.add(text.Quote(s.ID))
			*b, *c = texts[1], texts[2]
		}
		first, second := 0, 1
		switch {
		case texts[1] == *b && texts[2] == *c:
		case texts[2] == *b && texts[1] == *c:
			first, second = 1, 0
		default:
			return fmt.Errorf("the vote is on other candidates than triplets(%d), which is of the same pair", i-i%each+1)
		}
		if winner == 1 {
			s.Judgements[first].Score++
		} else {
			s.Judgements[second].Score++
		}
		s.References = append(s.References, texts[0])
		return nil
	})
	if err == nil && differ.n > 0 {
		warn(Warning{refract.Position{File: path}, fmt.Sprintf("the votes of %s are on other candidates than %s has (ids %s); those of the votes are taken",
			english.Count(differ.n, "pair"), pairsFile, &differ)})
	}
	return err
}

// sameTwo tells whether two texts are two others, in any order.
func sameTwo(a, b, c, d refract.Text) bool { return a == c && b == d || a == d && b == c }

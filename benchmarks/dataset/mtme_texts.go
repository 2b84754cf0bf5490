package dataset

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
)

// The texts of a folder of mt-metrics-eval are files of plain text or, in the
// newer test sets, JSON Lines, of which one field is the text.

// openSource opens sources/LP.txt or, where that is not there, the field
// "source" of sources/LP.jsonl.
func (f *folder) openSource() (*input, error) {
	path := filepath.Join(f.root, "sources", f.lp)
	in, err := newRegular(path + ".txt")
	if !errors.Is(err, fs.ErrNotExist) {
		return in, err
	}
	in, other := newRegular(path + ".jsonl")
	switch {
	case errors.Is(other, fs.ErrNotExist):
		return nil, err
	case other != nil:
		return nil, other
	}
	in.field = "source"
	return in, nil
}

// pairsOf lists the language pairs of a test set.
func pairsOf(root string) ([]string, error) {
	var all []string
	for _, suffix := range []string{".txt", ".jsonl"} {
		found, err := names(filepath.Join(root, "sources"), "", suffix)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// textFiles are the files of the references ("references", NAME) and of the
// systems ("system-outputs", NAME).
type textFiles map[[2]string]string

// list finds the files of a kind and returns their names in byte order. A
// name with two files is an error, since only one could be read.
func (t textFiles) list(kind, dir, prefix string) ([]string, error) {
	var all []string
	for _, suffix := range []string{".txt", ".jsonl"} {
		found, err := names(dir, prefix, suffix)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			path := filepath.Join(dir, prefix+name+suffix)
			if other, ok := t[[2]string{kind, name}]; ok {
				return nil, failFile(path, "%s holds the same texts; remove one of the two", other)
			}
			t[[2]string{kind, name}] = path
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return all, nil
}

// open opens a file that was listed. field is that of its texts, where it is
// JSON Lines.
func (t textFiles) open(kind, name, field string) (*input, error) {
	path := t[[2]string{kind, name}]
	in, err := newRegular(path)
	if err == nil && filepath.Ext(path) == ".jsonl" {
		in.field = field
	}
	return in, err
}

// fieldOf reads a line of JSON and returns the text of one of its fields.
// null is a missing text.
func fieldOf(line []byte, pos refract.Position, field string) (refract.Text, error) {
	var t refract.Text
	found := false
	err := scanLine(line, pos, func(r *jsonline.Reader) error {
		return r.Members("field", func(name []byte) (err error) {
			if string(name) != field {
				return r.Skip()
			}
			found = true
			t, err = readText(r)
			return err
		})
	})
	if err == nil && !found {
		err = failAt(pos, 0, "the object has no field %q, which holds the text; write null for a missing one", field)
	}
	return t, err
}

// standardReference returns the reference by which the shared task of a test
// set computed its results: "refA", but for those below (the table of
// mt-metrics-eval).
func standardReference(testset, lp string) string {
	switch testset {
	case "wmt19", "wmt20":
		return "ref"
	case "wmt21.news":
		switch lp {
		case "en-de":
			return "refC"
		case "zh-en":
			return "refB"
		}
	case "wmt21.tedtalks":
		if lp == "zh-en" {
			return "refB"
		}
	case "wmt22":
		if lp == "cs-en" || lp == "en-cs" {
			return "refB"
		}
	case "wmt23":
		if lp == "he-en" || lp == "en-he" {
			return "refB"
		}
	case "wmt24":
		if lp == "en-de" {
			return "refB"
		}
	case "wmt24pp":
		switch lp {
		case "en-de_DE":
			return "posteditB"
		case "en-is_IS":
			return "refA"
		}
		return "posteditA"
	}
	return "refA"
}

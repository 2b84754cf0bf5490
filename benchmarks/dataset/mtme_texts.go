package dataset

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// The texts of an mt-metrics-eval folder are files of plain text or, in the newer test
// sets, of JSON Lines, in which one field is the text.

// textFiles are the files of the sources, references or systems.
type textFiles struct {
	names []string // in byte order
	paths map[string]string
	field string // of the texts, in JSON Lines
}

// sourceField is the field of sources. If a folder has sources in both forms, plain text is
// read.
const sourceField = "source"

// listTexts lists the files of a folder. A name with two files is an error, since only one
// could be read.
func listTexts(dir, prefix, field string) (*textFiles, error) {
	t := &textFiles{paths: map[string]string{}, field: field}
	for _, suffix := range []string{".txt", ".jsonl"} {
		found, err := names(dir, prefix, suffix)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			path := filepath.Join(dir, prefix+name+suffix)
			other, again := t.paths[name]
			switch {
			case !again:
				t.names = append(t.names, name)
				t.paths[name] = path
			case field != sourceField:
				return nil, failFile(path, "%s holds the same texts; remove one of the two", text.Path(other))
			}
		}
	}
	slices.Sort(t.names)
	return t, nil
}

// open opens a listed file.
func (t *textFiles) open(name string) (*input, error) {
	path := t.paths[name]
	in, err := newRegular(path)
	if err == nil && filepath.Ext(files.Unpacked(path)) == ".jsonl" {
		in.field = t.field
	}
	return in, err
}

// fieldOf parses a line of JSON and returns the text in one of its fields. null is a
// missing text.
func fieldOf(line []byte, pos refract.Position, field string) (refract.Text, error) {
	var row map[string]jsontext.Value
	if err := jsonline.Unmarshal(line, &row, "a row"); err != nil {
		return refract.Text{}, placed(err, pos)
	}
	v, found := row[field]
	if !found {
		return refract.Text{}, failAt(pos, 0, "the object has no field %q, which holds the text; write null for a missing one", field)
	}
	var t *string
	if err := json.Unmarshal(v, &t); err != nil {
		return refract.Text{}, failAt(pos, 0, "field %s must be a string or null", field)
	}
	return textOf(t), nil
}

// standardReference returns the reference with which a shared task computed its results.
func standardReference(testset, lp string) string {
	return cmp.Or(standardReferences[testset+"/"+lp], standardReferences[testset], "refA")
}

// standardReferences lists those of test sets, or of one language pair, that are not "refA"
// (the table of mt-metrics-eval).
var standardReferences = map[string]string{
	"wmt19":                "ref",
	"wmt20":                "ref",
	"wmt21.news/en-de":     "refC",
	"wmt21.news/zh-en":     "refB",
	"wmt21.tedtalks/zh-en": "refB",
	"wmt22/cs-en":          "refB",
	"wmt22/en-cs":          "refB",
	"wmt23/en-he":          "refB",
	"wmt23/he-en":          "refB",
	"wmt24/en-de":          "refB",
	"wmt24pp":              "posteditA",
	"wmt24pp/en-de_DE":     "posteditB",
	"wmt24pp/en-is_IS":     "refA",
}

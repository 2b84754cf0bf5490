package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// NamedFile is a system's name and the file of its outputs.
type NamedFile struct{ Name, Path string }

// LinesSpec names line-aligned text files: line k of each belongs to segment k. Any of the
// three kinds may be absent, but not all.
type LinesSpec struct {
	Source     string // "" if there is none
	References []string
	Hypotheses []NamedFile
}

// OpenLines returns the dataset of line-aligned text files. The ids are "1", "2" and so on.
// White space at the end of a line is removed, by Python's rule, as sacreBLEU's command
// does; an empty line is an empty text. Unequal numbers of lines are an error, as is a
// system given twice.
func OpenLines(s LinesSpec, o Options) (refract.Dataset, error) {
	ds, err := openLines(s, o)
	if err != nil {
		return nil, err
	}
	return ds, nil
}

func openLines(s LinesSpec, o Options) (*set, error) {
	o.Warn = warnOnce(o.Warn)
	d := &parallel{trim: text.TrimRight[[]byte], o: o}
	if s.Source == "" && len(s.References) == 0 && len(s.Hypotheses) == 0 {
		return nil, errors.New("no source, reference or hypothesis file is given")
	}
	var err error
	if s.Source != "" {
		if d.source, err = newInput(s.Source); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	for i, path := range s.References {
		if slices.Contains(s.References[:i], path) {
			o.Warn(Warning{refract.Position{File: path}, "the file is given twice and counts as two equal references"})
		}
		in, err := newInput(path)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		d.references = append(d.references, in)
	}
	if d.systems, err = o.openSystems(s.Hypotheses); err != nil {
		return nil, err
	}
	for _, c := range d.columns() {
		if slices.Contains(tableEndings, filepath.Ext(files.Unpacked(c.name))) {
			o.Warn(Warning{refract.Position{File: c.name}, "each line is taken for a text as it stands; a table is read as 'table:FILE,reference=COLUMN,system:NAME=COLUMN'"})
		}
	}
	if err := d.measure(); err != nil {
		return nil, err
	}
	return d.set(), nil
}

// tableEndings are how files of tables end, which hold more than a text a line.
var tableEndings = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json"}

// openSystems opens the files of systems, whose names must differ.
func (o *Options) openSystems(files []NamedFile) (all []system, err error) {
	for i, f := range files {
		k := slices.IndexFunc(files[:i], func(g NamedFile) bool { return g.Name == f.Name })
		switch {
		case f.Name == "":
			return nil, failFile(f.Path, "the hypothesis file has no system name")
		case k >= 0:
			return nil, failFile(f.Path, "system %s has the file %s already; give the systems different names", text.Quote(f.Name), text.Path(files[k].Path))
		}
		in, err := o.input(f.Path)
		if err == nil && in.stdin != nil && slices.ContainsFunc(files[:i], func(g NamedFile) bool { return g.Path == f.Path }) {
			err = failFile(in.name, "already belongs to another system")
		}
		if err != nil {
			return nil, fmt.Errorf("system %s: %w", text.Quote(f.Name), err)
		}
		all = append(all, system{name: f.Name, texts: in})
	}
	return all, nil
}

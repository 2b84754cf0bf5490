package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// NamedFile is a system's name and the file of its outputs, with a text a line. The Path
// "FILE:COLUMN", or "FILE:COLUMN,id=COLUMN", is a column of a table, whose rows are joined
// by the column "id" or the named one; "text:FILE" is a file whose lines are texts even if
// they look like a table, which otherwise is an error.
type NamedFile struct{ Name, Path string }

// LinesSpec names line-aligned text files: line k of each belongs to segment k. Any of the
// three kinds may be absent, but not all. "text:FILE" is read as in a [NamedFile].
type LinesSpec struct {
	Source     string // "" if there is none
	References []string
	Hypotheses []NamedFile
}

// OpenLines returns the dataset of line-aligned text files. The ids are "1", "2" and so on.
// White space at the end of a line is removed, by Python's rule, as sacreBLEU's command
// does. An empty line is an empty text, but a missing one if it is a reference of a segment
// that has another, since sets with fewer references of some segments are written so; a
// [Warning] counts them.
// Unequal numbers of lines are an error, as are a system given twice and a file that is a
// table.
func OpenLines(s LinesSpec, o Options) (refract.Dataset, error) {
	o.Warn = warnOnce(o.Warn)
	var columns []NamedFile
	if slices.ContainsFunc(s.Hypotheses, func(f NamedFile) bool { return parseTexts(f.Path).column != "" }) {
		s.Hypotheses, columns = nil, s.Hypotheses // in their order
	}
	ds, err := openLines(s, o, false)
	if err != nil {
		return nil, err
	}
	return WithHypotheses(ds, columns, o)
}

// openLines opens text files. Published ones are known to hold a text a line, and none that
// is missing.
func openLines(s LinesSpec, o Options, published bool) (*set, error) {
	d := &parallel{trim: bytes.TrimRightFunc, o: o, ragged: !published}
	open := func(role, path string) (*input, error) {
		if path == "-" {
			return nil, specError("only outputs are read from standard input; store the texts in a file")
		}
		spec := textsSpec{path: path, plain: true}
		if !published {
			spec = parseTexts(path)
		}
		if spec.column != "" {
			return nil, specError("%s: only outputs are read from a column; read the file as the dataset %s", text.Path(path), strings.Replace(suggestTable(spec.path, []string{role}), role+"="+role, role+"="+quoteColumn(spec.column), 1))
		}
		in, err := newInput(spec.path)
		if err == nil && !spec.plain {
			in.role = texts
		}
		return in, err
	}
	if s.Source == "" && len(s.References) == 0 && len(s.Hypotheses) == 0 {
		return nil, errors.New("no source, reference or hypothesis file is given")
	}
	var err error
	if s.Source != "" {
		if d.source, err = open("source", s.Source); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	for i, path := range s.References {
		if slices.Contains(s.References[:i], path) {
			o.Warn(Warning{refract.Position{File: path}, "the file is given twice and counts as two equal references"})
		}
		in, err := open("reference", path)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		d.references = append(d.references, in)
	}
	if d.systems, err = o.openSystems(s.Hypotheses); err != nil {
		return nil, err
	}
	if err := d.measure(); err != nil {
		return nil, err
	}
	return d.set(), nil
}

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
		spec := parseTexts(f.Path)
		in, err := o.input(spec.path)
		if err == nil && !spec.plain {
			in.role = outputs
		}
		if err == nil && in.stdin != nil && slices.ContainsFunc(files[:i], func(g NamedFile) bool { return g.Path == f.Path }) {
			err = failFile(in.name, "already belongs to another system")
		}
		if err != nil {
			if f.Name != f.Path { // else it is named twice
				err = fmt.Errorf("system %s: %w", text.Quote(f.Name), err)
			}
			return nil, err
		}
		sys := system{name: f.Name, texts: in}
		if spec.column != "" {
			sys.column = &spec
		}
		all = append(all, sys)
	}
	return all, nil
}

package dataset

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/text"
)

// hfDataset is a data set of other people in Parquet, as Hugging Face serves
// it, of which the user names the columns.
type hfDataset struct {
	name  string
	files []string
	hfColumns
}

// hfColumns says what each column is. A name of "" is none.
type hfColumns struct {
	id, source, document, domain string
	references                   []string // each a text, or a list of texts
	systems                      []system // with the column in place of texts
	columnOf                     []string // of each system
}

// openHF takes a file or a folder of such, followed by what the columns are:
// "hf:FILE,source=translation.zh,references=translation.en,hypotheses=mt=out".
func openHF(place string, o Options) (refract.Dataset, error) {
	path, options, err := splitSpec("hf", place, []string{"id", "source", "document", "domain"}, []string{"references", "hypotheses"})
	if err != nil {
		return nil, err
	}
	d := &hfDataset{name: path}
	d.id, d.source, d.document, d.domain = options.get("id"), options.get("source"), options.get("document"), options.get("domain")
	d.references = options["references"]
	for _, h := range options["hypotheses"] {
		name, column, ok := strings.Cut(h, "=")
		if !ok {
			column = h
		}
		if name == "" || column == "" {
			return nil, &SpecError{fmt.Sprintf("dataset %s: hypotheses is %s; write a column, or a name, = and a column", text.Quote("hf:"+place), text.Quote(h))}
		}
		if slices.ContainsFunc(d.systems, func(s system) bool { return s.name == name }) {
			return nil, &SpecError{fmt.Sprintf("dataset %s: two systems are named %s; write hypotheses=NAME=COLUMN", text.Quote("hf:"+place), text.Quote(name))}
		}
		d.systems = append(d.systems, system{name: name})
		d.columnOf = append(d.columnOf, column)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	d.files = []string{path}
	if info.IsDir() {
		if d.files, err = parquetFiles(path); err != nil {
			return nil, err
		}
	}
	for _, file := range d.files {
		f, err := d.open(file)
		if err != nil {
			return nil, err
		}
		f.close()
	}
	if d.source == "" && len(d.references)+len(d.systems) == 0 {
		return nil, d.noColumns(place)
	}
	return d, nil
}

// noColumns lists the columns of the file for a user who named none.
func (d *hfDataset) noColumns(place string) error {
	f, err := openParquetColumns(d.files[0])
	if err != nil {
		return err
	}
	defer f.close()
	var known []string
	for _, c := range f.leaves() {
		known = append(known, c.name)
	}
	return &SpecError{fmt.Sprintf("dataset %s: say which columns the texts are in, as in hf:FILE,source=COLUMN,references=COLUMN; there are %s", text.Quote("hf:"+place), quotedNames(known))}
}

func (d *hfDataset) rereadable() bool { return true }

// hfFile is an open file with the columns that are read.
type hfFile struct {
	*parquetColumns
	id, source, document, domain *parquetColumn
	references, hypotheses       []*parquetColumn
}

func (d *hfDataset) open(path string) (*hfFile, error) {
	columns, err := openParquetColumns(path)
	if err != nil {
		return nil, err
	}
	f := &hfFile{parquetColumns: columns}
	one := func(dst **parquetColumn, name string, kind columnKind) {
		if err == nil && name != "" {
			*dst, err = f.find(name, kind)
		}
	}
	one(&f.id, d.id, anyKey)
	one(&f.source, d.source, oneText)
	one(&f.document, d.document, anyKey)
	one(&f.domain, d.domain, anyKey)
	f.references = make([]*parquetColumn, len(d.references))
	for i, name := range d.references {
		one(&f.references[i], name, anyTexts)
	}
	f.hypotheses = make([]*parquetColumn, len(d.columnOf))
	for i, name := range d.columnOf {
		one(&f.hypotheses[i], name, oneText)
	}
	if err != nil {
		f.close()
		return nil, failFile(path, "%w", err)
	}
	return f, nil
}

// Segments yields the segments in the order of the rows. Without a column of
// ids, the ids are the numbers of the rows from 1, through all files.
func (d *hfDataset) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		ids, n := idset.New(), 0
		for _, path := range d.files {
			f, err := d.open(path)
			if err != nil {
				yield(nil, err)
				return
			}
			for row := range f.rows {
				s := &refract.Segment{ID: ordinal(n), Pos: refract.Position{File: path, Line: row + 1}}
				err := ctx.Err()
				if err == nil {
					if err = guard(func() error { return f.read(s, d.systems) }); err != nil {
						err = &Error{Pos: s.Pos, Err: err}
					} else if first, again := ids.Add(s.ID, int64(n+1)); again {
						err = failAt(s.Pos, 0, "id %s is that of segment %d already; ids must be unique", text.Quote(s.ID), first)
					}
				}
				n++
				if err != nil {
					s = nil
				}
				if !yield(s, err) || err != nil {
					f.close()
					return
				}
			}
			f.close()
		}
		if n == 0 {
			yield(nil, failFile(d.name, "the dataset is empty: no segment at all"))
		}
	}
}

// Len returns the number of rows.
func (d *hfDataset) Len() (int, bool) {
	n := 0
	for _, path := range d.files {
		f, err := openParquetColumns(path)
		if err != nil {
			return 0, false
		}
		n += f.rows
		f.close()
	}
	return n, true
}

// read reads the next row into s.
func (f *hfFile) read(s *refract.Segment, systems []system) error {
	if f.id != nil {
		id, err := f.id.key()
		if err != nil {
			return err
		}
		if s.ID = id; id == "" {
			return fmt.Errorf("column %s is empty or null; each segment needs an id of its own", f.id.name)
		}
	}
	var err error
	for _, c := range []struct {
		column *parquetColumn
		to     *string
	}{{f.document, &s.Document}, {f.domain, &s.Domain}} {
		if c.column != nil && err == nil {
			*c.to, err = c.column.key()
		}
	}
	if f.source != nil && err == nil {
		s.Source, err = f.source.text()
	}
	for _, c := range f.references {
		var texts []refract.Text
		if err == nil {
			texts, err = c.texts()
		}
		s.References = append(s.References, texts...)
	}
	for i, c := range f.hypotheses {
		h := refract.Hypothesis{System: systems[i].name}
		if err == nil {
			h.Text, err = c.text()
		}
		s.Hypotheses = append(s.Hypotheses, h)
	}
	if err != nil {
		return err
	}
	return checkUTF8(s)
}

// key returns a text or a number of a row as an id or a name; null is "".
func (c *parquetColumn) key() (string, error) {
	v, err := c.one()
	if err != nil || v.IsNull() {
		return "", err
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean()), nil
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10), nil
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10), nil
	}
	return string(v.ByteArray()), nil
}

func (c *parquetColumn) text() (refract.Text, error) {
	v, err := c.one()
	if err != nil || v.IsNull() {
		return refract.Text{}, err
	}
	return refract.NewText(string(v.ByteArray())), nil
}

// texts returns the texts of a row: those of a list, or one. A null or empty
// list has none; a null text is missing.
func (c *parquetColumn) texts() ([]refract.Text, error) {
	values, err := c.next()
	if err != nil {
		return nil, err
	}
	var all []refract.Text
	for _, v := range values {
		switch {
		case c.repeated && v.DefinitionLevel() < c.elementLevel: // the list is empty
		case v.IsNull():
			all = append(all, refract.Text{})
		default:
			all = append(all, refract.NewText(string(v.ByteArray())))
		}
	}
	return all, nil
}

package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// hfColumns says what each column of a data set of other people in Parquet is,
// as Hugging Face serves it. A name of "" is none.
type hfColumns struct {
	id, source, document, domain string
	references                   []string // each a text, or a list of texts
	systems, columnOf            []string // a name and a column for each
}

// openHF takes a file or a folder of such, followed by what the columns are:
// "hf:FILE,source=translation.zh,references=translation.en,hypotheses=mt=out".
func openHF(place string, o Options) (*set, error) {
	path, options, err := splitSpec("hf", place, []string{"id", "source", "document", "domain"}, []string{"references", "hypotheses"})
	if err != nil {
		return nil, err
	}
	d := &hfColumns{id: options.get("id"), source: options.get("source"), document: options.get("document"), domain: options.get("domain"),
		references: options["references"]}
	for _, h := range options["hypotheses"] {
		name, column, ok := strings.Cut(h, "=")
		if !ok {
			column = h
		}
		if name == "" || column == "" {
			return nil, specError("dataset %s: hypotheses is %s; write a column, or a name, = and a column", text.Quote("hf:"+place), text.Quote(h))
		}
		if slices.Contains(d.systems, name) {
			return nil, specError("dataset %s: two systems are named %s; write hypotheses=NAME=COLUMN", text.Quote("hf:"+place), text.Quote(name))
		}
		d.systems, d.columnOf = append(d.systems, name), append(d.columnOf, column)
	}
	files, err := parquetFiles(path)
	if err != nil {
		return nil, err
	}
	if d.source == "" && len(d.references)+len(d.systems) == 0 {
		return nil, d.noColumns(files[0], place)
	}
	return parquetSet(path, files, o, d.open)
}

// noColumns lists the columns of a file for a user who named none.
func (d *hfColumns) noColumns(file, place string) error {
	return withParquet(file, d.open, func(r rowReader, _ int) error {
		var known []string
		for _, c := range r.(*hfReader).leaves() {
			known = append(known, c.name)
		}
		return specError("dataset %s: say which columns the texts are in, as in hf:FILE,source=COLUMN,references=COLUMN; there are %s", text.Quote("hf:"+place), quotedNames(known))
	})
}

// hfReader reads the columns that are named, whatever the others hold.
type hfReader struct {
	parquetColumns
	systems                      []string
	id, source, document, domain *parquetColumn
	references, hypotheses       []*parquetColumn
}

func (d *hfColumns) open(p *parquet.File) (_ rowReader, err error) {
	r := &hfReader{parquetColumns: parquetColumns{parquet: p}, systems: d.systems}
	find := func(name string, kind columnKind) (c *parquetColumn) {
		if err == nil && name != "" {
			c, err = r.find(name, kind)
		}
		return c
	}
	r.id, r.source, r.document, r.domain = find(d.id, anyKey), find(d.source, oneText), find(d.document, anyKey), find(d.domain, anyKey)
	for _, name := range d.references {
		r.references = append(r.references, find(name, anyTexts))
	}
	for _, name := range d.columnOf {
		r.hypotheses = append(r.hypotheses, find(name, oneText))
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *hfReader) skip(rows int) error {
	for range r.skipGroups(rows) {
		if err := r.next(&refract.Segment{ID: "skipped"}); err != nil {
			return err
		}
	}
	return nil
}

func (r *hfReader) next(s *refract.Segment) (err error) {
	if r.id != nil {
		if s.ID, err = r.id.key(); err == nil && s.ID == "" {
			err = fmt.Errorf("column %s is empty or null; each segment needs an id of its own", r.id.name)
		}
	}
	if r.document != nil && err == nil {
		s.Document, err = r.document.key()
	}
	if r.domain != nil && err == nil {
		s.Domain, err = r.domain.key()
	}
	if r.source != nil && err == nil {
		s.Source, err = r.source.text()
	}
	for _, c := range r.references {
		var texts []refract.Text
		if err == nil {
			texts, err = c.texts()
		}
		s.References = append(s.References, texts...)
	}
	for i, c := range r.hypotheses {
		h := refract.Hypothesis{System: r.systems[i]}
		if err == nil {
			h.Text, err = c.text()
		}
		s.Hypotheses = append(s.Hypotheses, h)
	}
	return cmp.Or(err, checkUTF8(s))
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

package publish

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// csvFile writes a table for spreadsheets: a row a segment, and a column a reference.
type csvFile struct {
	*csv.Writer
	references int
	columns    []string // of all segments; nil before the first
	extra      []string // the last of them
}

func newCSV(f *folder) (exporter, error) {
	out, err := f.create("references.csv", dataset.RoleSegments)
	if err == nil {
		_, err = out.WriteString("\ufeff") // without it, spreadsheets take UTF-8 for another encoding
	}
	return &csvFile{Writer: csv.NewWriter(out)}, err
}

func (c *csvFile) add(s *refract.Segment) error {
	all := s.AllReferences([]refract.Text{s.Source})
	extra := map[string]jsontext.Value{}
	if s.Extra != "" {
		if err := json.Unmarshal([]byte(s.Extra), &extra); err != nil {
			return fmt.Errorf("its extra columns are no JSON object: %w", err)
		}
	}
	if c.columns == nil {
		c.references, c.extra = len(all)-1, slices.Sorted(maps.Keys(extra))
		if c.columns = dataset.CSVColumns(c.references); s.Language != "" {
			c.columns = append(c.columns, dataset.CSVLanguage)
		}
		for _, name := range c.extra {
			if slices.Contains(c.columns, name) || name == dataset.CSVLanguage {
				return fmt.Errorf("its extra column %q has the name of another column of this format; publish as jsonl or parquet", name)
			}
		}
		if err := c.row(append(texts(c.columns), texts(c.extra)...)); err != nil {
			return err
		}
	}
	for name := range extra {
		if !slices.Contains(c.extra, name) {
			return fmt.Errorf("it has the extra column %q, which the first segment has not; publish as jsonl or parquet", name)
		}
	}
	if len(all)-1 != c.references {
		return unequal(len(all)-1, c.references, useWhole)
	}
	row := append([]refract.Text{refract.NewText(s.ID), stated(s.Document), stated(s.Domain)}, all...)
	switch hasLanguage := len(c.columns) > len(dataset.CSVColumns(c.references)); {
	case hasLanguage:
		row = append(row, stated(s.Language))
	case s.Language != "":
		return errors.New("it states a language, which the first segment does not; publish as jsonl or parquet")
	}
	for _, name := range c.extra {
		row = append(row, cellOf(extra[name]))
	}
	return c.row(row)
}

// stated returns a text that is missing if it is empty.
func stated(s string) refract.Text { return refract.Text{Value: s, Valid: s != ""} }

func texts(list []string) (out []refract.Text) {
	for _, s := range list {
		out = append(out, refract.NewText(s))
	}
	return out
}

// cellOf returns the text of a JSON string, and other values as they are written.
func cellOf(v jsontext.Value) (t refract.Text) {
	switch v.Kind() {
	case '"':
		json.Unmarshal(v, &t)
	case 'n', 0:
	default:
		t = refract.NewText(string(v))
	}
	return t
}

// row writes a row as it stands in the table.
func (c *csvFile) row(row []refract.Text) error {
	var cells []string
	for i, t := range row {
		switch {
		case !utf8.ValidString(t.Value):
			return fmt.Errorf("column %d %w", i+1, errNotUTF8)
		case strings.Contains(t.Value, "\r"):
			return errors.New("it has a carriage return, which readers of CSV take for a line end; publish as jsonl or parquet")
		}
		cells = append(cells, dataset.CSVCell(t))
	}
	return c.Write(cells)
}

func (c *csvFile) finish(*dataset.Manifest) error {
	c.Flush()
	return c.Error()
}

package publish

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// csvFile writes a table for spreadsheets: a row a segment, and a column a reference.
type csvFile struct {
	*csv.Writer
	references int
	begun      bool
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
	if !c.begun {
		c.begun, c.references = true, len(all)-1
		if err := c.Write(dataset.CSVColumns(c.references)); err != nil {
			return err
		}
	}
	if len(all)-1 != c.references {
		return unequal(len(all)-1, c.references, useWhole)
	}
	row := make([]string, 0, len(all)+3)
	for _, t := range append([]refract.Text{{Value: s.ID, Valid: true}, {Value: s.Document, Valid: s.Document != ""}, {Value: s.Domain, Valid: s.Domain != ""}}, all...) {
		switch {
		case !utf8.ValidString(t.Value):
			return fmt.Errorf("column %d %w", len(row)+1, errNotUTF8)
		case strings.Contains(t.Value, "\r"):
			return errors.New("it has a carriage return, which readers of CSV take for a line end; publish as jsonl or parquet")
		}
		row = append(row, dataset.CSVCell(t))
	}
	return c.Write(row)
}

func (c *csvFile) finish(*dataset.Manifest) error {
	c.Flush()
	return c.Error()
}

package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/report"
)

// ReadTable reads a table that a command printed as JSON, an array of objects,
// or as JSON Lines, for people: rounded, and without the columns that are null
// throughout. The others are in the order of the first object.
func ReadTable(path string) (*report.NamedTable, error) {
	f, err := packed.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	t := &report.NamedTable{}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err == nil && (tok == json.Delim('[') || tok == json.Delim(']')) {
			continue // the array around the objects
		}
		if err == nil {
			err = readRow(d, tok, t)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is no table in JSON: %w", path, err)
		}
	}
	if len(t.Rows) == 0 {
		return nil, fmt.Errorf("%s is no table in JSON: it has no row", path)
	}
	for i := range t.Columns {
		t.Columns[i].Hide = !slices.ContainsFunc(t.Rows, func(row []report.Value) bool { return row[i] != report.Null() })
	}
	return t, nil
}

// readRow reads an object, of which the first token is read.
func readRow(d *json.Decoder, tok json.Token, t *report.NamedTable) error {
	if tok != json.Delim('{') {
		return errors.New("want objects, one for each row")
	}
	row := make([]report.Value, len(t.Columns))
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		key := tok.(string) // which the decoder makes sure of
		var value any
		if err := d.Decode(&value); err != nil {
			return err
		}
		i := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Name == key })
		if i < 0 && len(t.Rows) > 0 {
			return fmt.Errorf("the key %q is not in the first row", key)
		}
		if i < 0 {
			i = len(t.Columns)
			t.Columns, row = append(t.Columns, report.Column{Name: key}), append(row, report.Null())
		}
		if value != nil {
			row[i] = report.String(cellText(value))
		}
	}
	t.Rows = append(t.Rows, row)
	_, err := d.Token()
	return err
}

// cellText shows a value; an array is an interval.
func cellText(value any) string {
	switch v := value.(type) {
	case nil:
		return "–"
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.Contains(v.String(), ".") {
			return strconv.FormatFloat(f, 'f', 4, 64)
		}
	case []any:
		var parts []string
		for _, p := range v {
			parts = append(parts, cellText(p))
		}
		return strings.Join(parts, " to ")
	}
	return fmt.Sprint(value)
}

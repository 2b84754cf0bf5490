package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ReadTable reads a table that a command printed as JSON, an array of objects,
// or as JSON Lines, for people: rounded, and without the columns that are null
// throughout. The others are in the order of the first object.
func ReadTable(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	t := &Table{}
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
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != absentCell }) {
			t.Columns = slices.Delete(t.Columns, i, i+1)
			for k := range t.Rows {
				t.Rows[k] = slices.Delete(t.Rows[k], i, i+1)
			}
		}
	}
	return t, nil
}

const absentCell = "–"

// readRow reads an object, of which the first token is read.
func readRow(d *json.Decoder, tok json.Token, t *Table) error {
	if tok != json.Delim('{') {
		return errors.New("want objects, one for each row")
	}
	row := make([]string, len(t.Columns))
	for i := range row {
		row[i] = absentCell
	}
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
		i := slices.Index(t.Columns, key)
		if i < 0 && len(t.Rows) > 0 {
			return fmt.Errorf("the key %q is not in the first row", key)
		}
		if i < 0 {
			i = len(t.Columns)
			t.Columns, row = append(t.Columns, key), append(row, "")
		}
		row[i] = cellText(value)
	}
	t.Rows = append(t.Rows, row)
	_, err := d.Token()
	return err
}

// cellText shows a value; an array is an interval.
func cellText(value any) string {
	switch v := value.(type) {
	case nil:
		return absentCell
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

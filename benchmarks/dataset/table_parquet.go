package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
)

// eachParquet reads the rows of a part of a file, or of all files of a folder. It decodes only the
// requested columns.
func (t *tableSpec) eachParquet(prepare, read func(*tableRow) error) error {
	paths, err := parquetFiles(t.path)
	if err != nil {
		return err
	}
	return eachFile(paths, t.span, t.checkColumns, func(g groups) error {
		known, named, _ := t.inSchema(g.file, g.path)
		if len(named) == 0 {
			return read(&tableRow{pos: refract.Position{File: g.path, Line: 1}, header: known})
		}
		return eachRow(context.Background(), g, parquet.NewSchema("table", named), func(values *any, pos refract.Position) (*tableRow, error) {
			row := &tableRow{pos: pos, header: known}
			object, _ := (*values).(map[string]any)
			return row, t.take(row, object, prepare)
		}, read)
	})
}

// checkColumns checks that a file has the columns of the table.
func (t *tableSpec) checkColumns(p *parquet.File, path string) error {
	_, _, err := t.inSchema(p, path)
	return err
}

// inSchema returns the names of all columns of a file, and the fields with those of the table.
func (t *tableSpec) inSchema(p *parquet.File, path string) (known []string, named parquet.Group, err error) {
	fields, paths := parquet.Group{}, map[string][]string{} // paths are those of columns
	for _, f := range p.Schema().Fields() {
		fields[f.Name()] = f
	}
	known, named = columnNames(p.Schema()), parquet.Group{}
	for i, steps := range p.Schema().Columns() {
		paths[known[i]] = steps
	}
	for _, name := range t.columns {
		steps, there := paths[name]
		switch {
		case !there && t.may(name):
			continue
		case !there:
			return nil, nil, t.noColumn(path, name, known)
		}
		if err := readable(p.Schema(), name, steps); err != nil {
			return nil, nil, failFile(path, "%w", err)
		}
		named[steps[0]] = fields[steps[0]]
	}
	if slices.Contains(t.keep, keepAll) {
		named = fields
	}
	return known, named, nil
}

// readable refuses number types that the library misreads.
func readable(schema *parquet.Schema, name string, path []string) error {
	leaf, _ := schema.Lookup(path...)
	switch leaf.Node.Type().String() {
	case "FLOAT16":
		return fmt.Errorf("column %q has numbers of 16 bits: write them as float32", name)
	case "INT(64,false)":
		return fmt.Errorf("column %q has unsigned numbers of 64 bits: write them as int64, or as text", name)
	}
	return nil
}

// columnNames returns the names of all columns.
func columnNames(schema *parquet.Schema) (names []string) {
	for _, path := range schema.Columns() {
		names = append(names, columnName(path))
	}
	return names
}

// columnName returns the path of a column without the levels that lists add.
func columnName(path []string) string {
	var parts []string
	for i := 0; i < len(path); i++ {
		parts = append(parts, path[i])
		for i+2 < len(path) && slices.Contains([]string{"list", "bag"}, path[i+1]) {
			i += 2
		}
	}
	return strings.Join(parts, ".")
}

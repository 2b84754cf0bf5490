package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
)

// eachParquet reads the rows of a file, or of all files of a folder.
func (t *tableSpec) eachParquet(prepare, read func(*tableRow) error) error {
	files, err := parquetFiles(t.path)
	for _, path := range files {
		if err == nil {
			_, err = newRegular(path)
		}
		if err == nil {
			err = t.eachInParquet(path, prepare, read)
		}
	}
	return err
}

// eachInParquet decodes only the requested columns.
func (t *tableSpec) eachInParquet(path string, prepare, read func(*tableRow) error) error {
	var known []string
	named := parquet.Group{}
	check := func(p *parquet.File) error {
		first := map[string]string{} // by the column's name, which is the first step of its path
		for _, steps := range p.Schema().Columns() {
			name := columnName(steps)
			known, first[name] = append(known, name), steps[0]
		}
		for _, name := range t.columns {
			if !slices.Contains(known, name) && t.may(name) {
				continue
			}
			if !slices.Contains(known, name) {
				return t.noColumn(path, name, known)
			}
			if err := readable(p.Schema(), name); err != nil {
				return failFile(path, "%w", err)
			}
			for _, f := range p.Schema().Fields() {
				if f.Name() == first[name] {
					named[f.Name()] = f
				}
			}
		}
		if slices.Contains(t.keep, keepAll) {
			for _, f := range p.Schema().Fields() {
				named[f.Name()] = f
			}
		}
		return nil
	}
	return withParquet(path, check, func(p *parquet.File) error {
		if len(named) == 0 {
			return read(&tableRow{pos: refract.Position{File: path, Line: 1}, header: known})
		}
		return eachRow(context.Background(), allGroups(p, path), parquet.NewSchema("table", named), func(values *any, pos refract.Position) (*tableRow, error) {
			row := &tableRow{pos: pos, header: known}
			object, _ := (*values).(map[string]any)
			return row, t.take(row, object, prepare)
		}, read)
	})
}

// readable refuses number types that the library misreads.
func readable(schema *parquet.Schema, name string) error {
	for _, steps := range schema.Columns() {
		if leaf, ok := schema.Lookup(steps...); ok && columnName(steps) == name {
			switch leaf.Node.Type().String() {
			case "FLOAT16":
				return fmt.Errorf("column %q has numbers of 16 bits: write them as float32", name)
			case "INT(64,false)":
				return fmt.Errorf("column %q has unsigned numbers of 64 bits: write them as int64, or as text", name)
			}
		}
	}
	return nil
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

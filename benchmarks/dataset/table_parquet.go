package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// eachParquet reads the rows of a file, or of all files of a folder.
func (t *tableSpec) eachParquet(read func(*tableRow) error) error {
	files, err := parquetFiles(t.path)
	if err != nil {
		return err
	}
	for _, path := range files {
		if _, err := newRegular(path); err != nil {
			return err
		}
		if err := t.eachInParquet(path, read); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableSpec) eachInParquet(path string, read func(*tableRow) error) error {
	var columns []leaf
	var names []string
	check := func(p *parquet.File) error {
		leaves := leavesOf(p)
		for _, l := range leaves {
			names = append(names, l.name)
		}
		for _, name := range t.columns {
			i := slices.Index(names, name)
			if i < 0 {
				return noColumn(path, name, names)
			}
			if leaves[i].lists > 1 {
				return fmt.Errorf("column %s is a list of lists, which is not read", text.Quote(name))
			}
			columns = append(columns, leaves[i])
		}
		return nil
	}
	return withParquet(path, check, func(p *parquet.File) error {
		r := &parquetTable{}
		err := guard(func() error {
			r.rows = parquet.MultiRowGroup(p.RowGroups()...).Rows()
			return nil
		})
		if err != nil {
			return failFile(path, "%w", err)
		}
		defer r.rows.Close()
		for line := 1; line <= int(p.NumRows()); line++ {
			row := &tableRow{pos: refract.Position{File: path, Line: line}, known: names}
			err := guard(func() (err error) {
				row.values, err = r.values(columns)
				return err
			})
			if err != nil {
				return placed(err, row.pos)
			}
			if err := read(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// parquetTable reads rows of any schema.
type parquetTable struct {
	rows   parquet.Rows
	buffer [parquetBatch]parquet.Row
	ahead  []parquet.Row // of buffer
}

// values reads the next row.
func (r *parquetTable) values(columns []leaf) ([]tableValue, error) {
	if len(r.ahead) == 0 {
		n, err := r.rows.ReadRows(r.buffer[:])
		if n == 0 {
			return nil, fmt.Errorf("the Parquet file is damaged: %w", cmp.Or(err, io.ErrUnexpectedEOF))
		}
		r.ahead = r.buffer[:n]
	}
	row := r.ahead[0]
	r.ahead = r.ahead[1:]
	out := make([]tableValue, len(columns))
	for i, c := range columns {
		v := &out[i]
		v.list = c.lists > 0
		for _, value := range row {
			switch {
			case value.Column() != c.index:
			case v.list && value.DefinitionLevel() < c.elementLevel: // the list is empty or null
			default:
				t, err := parquetText(value)
				if err != nil {
					return nil, fmt.Errorf("column %s: %w", text.Quote(c.name), err)
				}
				v.texts = append(v.texts, t)
			}
		}
	}
	return out, nil
}

// parquetText is a value as a text. NaN is missing, as pandas writes it so.
func parquetText(v parquet.Value) (refract.Text, error) {
	s := ""
	switch {
	case v.IsNull():
		return refract.Text{}, nil
	case v.Kind() == parquet.Boolean:
		s = strconv.FormatBool(v.Boolean())
	case v.Kind() == parquet.Int32:
		s = strconv.FormatInt(int64(v.Int32()), 10)
	case v.Kind() == parquet.Int64:
		s = strconv.FormatInt(v.Int64(), 10)
	case v.Kind() == parquet.Float:
		s = strconv.FormatFloat(float64(v.Float()), 'g', -1, 32)
	case v.Kind() == parquet.Double:
		s = strconv.FormatFloat(v.Double(), 'g', -1, 64)
	default:
		if s = string(v.ByteArray()); !utf8.ValidString(s) {
			return refract.Text{}, errors.New("it is not UTF-8")
		}
		return refract.NewText(s), nil
	}
	return refract.Text{Value: s, Valid: s != "NaN"}, nil
}

// leaf is a column of values. Its name is its path, without the levels that
// lists add.
type leaf struct {
	name         string
	index        int
	lists        int // how many lists it is in
	elementLevel int // definition level from which an element of a list is there
}

func leavesOf(p *parquet.File) []leaf {
	var all []leaf
	var walk func(c *parquet.Column, path []string, l leaf, level int)
	walk = func(c *parquet.Column, path []string, l leaf, level int) {
		if c.Optional() || c.Repeated() {
			level++
		}
		if c.Repeated() {
			l.lists++
			l.elementLevel = level
		}
		if c.Leaf() {
			l.name, l.index = strings.Join(path, "."), c.Index()
			all = append(all, l)
			return
		}
		inner := c.Columns()
		// A list has up to two levels, whose names say nothing.
		middle := c.Repeated() && len(path) > 0 && slices.Contains([]string{"list", "bag", "array"}, c.Name())
		if len(inner) == 1 && (inner[0].Repeated() || middle) {
			walk(inner[0], path, l, level)
			return
		}
		for _, child := range inner {
			walk(child, append(path[:len(path):len(path)], child.Name()), l, level)
		}
	}
	for _, c := range p.Root().Columns() {
		walk(c, []string{c.Name()}, leaf{}, 0)
	}
	return all
}

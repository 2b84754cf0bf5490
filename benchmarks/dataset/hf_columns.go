package dataset

import (
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract/internal/text"
)

// parquetColumns is an open file of which single columns are read.
type parquetColumns struct {
	parquet *parquet.File
	opened  []*parquetColumn
}

// skipGroups leaves out the row groups that lie within the first rows, before
// any is read, and returns how many rows are then left to leave out.
func (f *parquetColumns) skipGroups(rows int) (rest int) {
	for _, g := range f.parquet.RowGroups() {
		n := int(g.NumRows())
		if n > rows {
			break
		}
		rows -= n
		for _, c := range f.opened {
			c.groups = c.groups[1:]
		}
	}
	return rows
}

func (f *parquetColumns) close() {
	for _, c := range f.opened {
		if c.pages != nil {
			c.pages.Close()
		}
	}
}

// leaf is a column of values. Its name is its path, without the levels that
// lists add.
type leaf struct {
	name         string
	index        int
	kind         parquet.Kind
	lists        int // how many lists it is in
	elementLevel int // definition level from which an element of a list is there
}

func (f *parquetColumns) leaves() []leaf {
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
			l.name, l.index, l.kind = strings.Join(path, "."), c.Index(), c.Type().Kind()
			all = append(all, l)
			return
		}
		inner := c.Columns()
		if len(inner) == 1 && (inner[0].Repeated() || c.Repeated() && len(path) > 0 && listed(c)) {
			// A list has up to two levels, whose names say nothing.
			walk(inner[0], path, l, level)
			return
		}
		for _, child := range inner {
			walk(child, append(path[:len(path):len(path)], child.Name()), l, level)
		}
	}
	for _, c := range f.parquet.Root().Columns() {
		walk(c, []string{c.Name()}, leaf{}, 0)
	}
	return all
}

// listed tells whether a repeated group is the middle level of a list, by the
// names that writers give it.
func listed(c *parquet.Column) bool {
	switch c.Name() {
	case "list", "bag", "array":
		return true
	}
	return false
}

// columnKind is what a column is used for.
type columnKind int

const (
	oneText  columnKind = iota // a text per row
	anyTexts                   // a text or a list of texts per row
	anyKey                     // a text, a whole number or a truth value per row
)

// find opens the column with a name.
func (f *parquetColumns) find(name string, use columnKind) (*parquetColumn, error) {
	var known, inside []string
	for _, l := range f.leaves() {
		if l.name == name {
			if err := l.check(use); err != nil {
				return nil, err
			}
			c := &parquetColumn{leaf: l, groups: f.parquet.RowGroups(), repeated: l.lists > 0}
			f.opened = append(f.opened, c)
			return c, nil
		}
		known = append(known, l.name)
		if strings.HasPrefix(l.name, name+".") {
			inside = append(inside, l.name)
		}
	}
	if len(inside) > 0 {
		return nil, fmt.Errorf("column %s is a structure; name one of %s", text.Quote(name), quotedNames(inside))
	}
	return nil, fmt.Errorf("there is no column %s%s; there are %s", text.Quote(name), didYouMean(name, known), quotedNames(known))
}

func (l *leaf) check(use columnKind) error {
	most := 0
	if use == anyTexts {
		most = 1
	}
	isText := l.kind == parquet.ByteArray
	switch {
	case l.lists > 1:
		return fmt.Errorf("column %s is a list of lists, which is not read", text.Quote(l.name))
	case l.lists > most:
		return fmt.Errorf("column %s is a list; only references may be lists", text.Quote(l.name))
	case isText:
		return nil
	case use == anyKey && (l.kind == parquet.Int32 || l.kind == parquet.Int64 || l.kind == parquet.Boolean):
		return nil
	}
	return fmt.Errorf("column %s is of the type %v; want texts", text.Quote(l.name), l.kind)
}

// parquetColumn reads the values of one column, row by row.
type parquetColumn struct {
	leaf
	repeated bool
	groups   []parquet.RowGroup
	pages    parquet.Pages
	values   parquet.ValueReader
	buffer   []parquet.Value
	ahead    []parquet.Value // of buffer
	row      []parquet.Value
}

// peek returns the next value, or io.EOF.
func (c *parquetColumn) peek() (parquet.Value, error) {
	for len(c.ahead) == 0 {
		switch {
		case c.values != nil:
			if c.buffer == nil {
				c.buffer = make([]parquet.Value, parquetBatch)
			}
			n, err := c.values.ReadValues(c.buffer)
			c.ahead = c.buffer[:n]
			if err == io.EOF || n == 0 && err == nil {
				c.values = nil
			} else if err != nil {
				return parquet.Value{}, err
			}
		case c.pages != nil:
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				err = c.pages.Close()
				c.pages = nil
			} else if err == nil {
				c.values = page.Values()
			}
			if err != nil {
				return parquet.Value{}, err
			}
		case len(c.groups) > 0:
			c.pages = c.groups[0].ColumnChunks()[c.index].Pages()
			c.groups = c.groups[1:]
		default:
			return parquet.Value{}, io.EOF
		}
	}
	return c.ahead[0], nil
}

// next returns the values of the next row, valid until the following call.
func (c *parquetColumn) next() ([]parquet.Value, error) {
	c.row = c.row[:0]
	for {
		v, err := c.peek()
		switch {
		case err == io.EOF && len(c.row) > 0:
			return c.row, nil
		case err == io.EOF:
			return nil, fmt.Errorf("the Parquet file is damaged: column %s has fewer rows than the file", text.Quote(c.name))
		case err != nil:
			return nil, fmt.Errorf("the Parquet file is damaged: %w", err)
		case len(c.row) > 0 && v.RepetitionLevel() == 0:
			return c.row, nil
		}
		c.row = append(c.row, v)
		c.ahead = c.ahead[1:]
		if !c.repeated {
			return c.row, nil
		}
	}
}

// one returns the value of the next row of a column that is no list.
func (c *parquetColumn) one() (parquet.Value, error) {
	values, err := c.next()
	if err != nil {
		return parquet.Value{}, err
	}
	return values[0], nil
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// Fact is a named number, or another basis of a finding, as people read it.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NamedTable is a whole table with its title and notes.
type NamedTable struct {
	Name    string // such as "rows"
	Title   string
	Heading string // one line above the table: what its numbers are
	Columns []Column
	Rows    [][]Value
	// Coverage says how much of the data the table rests on, such as "29,958
	// of 30,000 cells"; "" where that is not known.
	Coverage string
	Notes    []string
}

// Add adds a row. A cell is a [Value], a string, an int, a float64 or a type made of it, or
// an interval with a method Ends; nil is a missing value.
func (t *NamedTable) Add(cells ...any) {
	row := make([]Value, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case nil:
		case Value:
			row[i] = c
		case interface{ Ends() (low, high float64) }:
			row[i] = Interval(c.Ends())
		case string:
			row[i] = String(c)
		case int:
			row[i] = Int(c)
		case float64:
			row[i] = Float(c)
		default:
			number := reflect.ValueOf(c)
			if number.Kind() != reflect.Float64 {
				panic(fmt.Sprintf("report: a cell of type %T", c))
			}
			row[i] = Float(number.Float())
		}
	}
	t.Rows = append(t.Rows, row)
}

// Note adds a line below the table, once.
func (t *NamedTable) Note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, n) {
		t.Notes = append(t.Notes, n)
	}
}

// Write shows the table in a format, its coverage as the first note. Wide shows
// all columns of a table for people, however wide that is.
func (t *NamedTable) Write(w io.Writer, f Format, wide bool) error {
	return t.write(w, f, Options{Wide: wide})
}

// WriteTitled shows the table to people, below its title.
func (t *NamedTable) WriteTitled(w io.Writer) error {
	return t.write(w, Table, Options{Title: t.Title})
}

func (t *NamedTable) write(w io.Writer, f Format, opts Options) error {
	opts.Title = cmp.Or(opts.Title, t.Heading)
	if opts.Notes = t.Notes; t.Coverage != "" {
		opts.Notes = append([]string{t.Coverage}, t.Notes...)
	}
	out := NewWriter(w, f, t.Columns, opts)
	for _, row := range t.Rows {
		if err := out.Row(row...); err != nil {
			return err
		}
	}
	return out.Close()
}

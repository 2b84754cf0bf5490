package report

import (
	"errors"
	"fmt"
	"io"
)

// Writer shows the rows of one table. It is not safe for concurrent use.
type Writer interface {
	// Row adds a row, one value per column. Every value is of its column's
	// kind, or missing. A row that is not is an error and is not written;
	// after any error, Row and Close return that error. The slice is not
	// kept.
	Row(values ...Value) error
	// Close writes what is left, such as JSON's closing bracket or the whole
	// of a table for people. It does not close the underlying writer. Output
	// that is not closed is incomplete, and as JSON invalid.
	Close() error
}

// Options are additions for people; formats for programs ignore them.
type Options struct {
	Title string   // one line above the table
	Notes []string // lines below the table, such as coverage and signatures
	Wide  bool     // shows every column of a table whole, however wide it gets
}

// NewWriter returns a Writer that shows rows of the columns on w. Errors: an
// unknown format, no columns (or none that people see), a column without a
// name, two columns of one name.
func NewWriter(w io.Writer, format Format, columns []Column, opts Options) (Writer, error) {
	if err := checkColumns(columns); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	columns = append([]Column(nil), columns...)
	switch format {
	case JSON:
		return newStream(w, columns, &jsonEncoder{keys: jsonKeys(columns), array: true}), nil
	case JSONLines:
		return newStream(w, columns, &jsonEncoder{keys: jsonKeys(columns)}), nil
	case CSV:
		return newStream(w, columns, &delimitedEncoder{columns: columns, separator: ',', text: appendCSVString}), nil
	case TSV:
		return newStream(w, columns, &delimitedEncoder{
			columns: columns, separator: '\t', text: appendTSVString, missingText: `\N`,
		}), nil
	case Table:
		return newHeld(w, columns, opts, tableRenderer{})
	case Markdown:
		return newHeld(w, columns, opts, markdownRenderer{})
	case LaTeX:
		return newHeld(w, columns, opts, latexRenderer{})
	}
	_, err := ParseFormat(string(format))
	return nil, err
}

func checkColumns(columns []Column) error {
	if len(columns) == 0 {
		return errors.New("a table needs at least one column")
	}
	seen := make(map[string]bool, len(columns))
	for i, c := range columns {
		switch {
		case c.Name == "":
			return fmt.Errorf("column %d has no name", i+1)
		case seen[c.Name]:
			return fmt.Errorf("two columns are named %q", c.Name)
		case c.Kind > KindInterval:
			return fmt.Errorf("column %q is of the unknown %v", c.Name, c.Kind)
		}
		seen[c.Name] = true
	}
	return nil
}

// state is what both kinds of writers share.
type state struct {
	columns []Column
	rows    int // accepted so far
	closed  bool
	err     error // the first error
}

// accept checks the next row and counts it.
func (s *state) accept(values []Value) error {
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return errors.New("report: a row after Close")
	}
	if err := checkRow(s.columns, s.rows, values); err != nil {
		s.err = fmt.Errorf("report: %w", err)
		return s.err
	}
	s.rows++
	return nil
}

func checkRow(columns []Column, at int, values []Value) error {
	if len(values) != len(columns) {
		return fmt.Errorf("row %d has %d values for %d columns", at+1, len(values), len(columns))
	}
	for i := range values {
		if v := &values[i]; v.present && v.kind != columns[i].Kind {
			return fmt.Errorf("row %d: column %q is of kind %v, its value of kind %v", at+1, columns[i].Name, columns[i].Kind, v.kind)
		}
	}
	return nil
}

// flushSize is how many bytes a stream gathers before it writes them.
const flushSize = 64 << 10

// encoder writes the parts of a streamed format to the end of dst.
type encoder interface {
	begin(dst []byte) []byte
	// row encodes the row of an index, from 0.
	row(dst []byte, index int, values []Value) []byte
	end(dst []byte, rows int) []byte
}

// stream writes rows as they come, through one buffer.
type stream struct {
	state
	w   io.Writer
	enc encoder
	buf []byte
}

func newStream(w io.Writer, columns []Column, enc encoder) *stream {
	s := &stream{state: state{columns: columns}, w: w, enc: enc, buf: make([]byte, 0, flushSize+flushSize/4)}
	s.buf = enc.begin(s.buf)
	return s
}

func (s *stream) Row(values ...Value) error {
	if err := s.accept(values); err != nil {
		return err
	}
	s.buf = s.enc.row(s.buf, s.rows-1, values)
	if len(s.buf) >= flushSize {
		return s.flush()
	}
	return nil
}

func (s *stream) Close() error {
	if s.err != nil || s.closed {
		return s.err
	}
	s.closed = true
	s.buf = s.enc.end(s.buf, s.rows)
	return s.flush()
}

func (s *stream) flush() error {
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	if err != nil {
		s.err = fmt.Errorf("write output: %w", err)
	}
	return s.err
}

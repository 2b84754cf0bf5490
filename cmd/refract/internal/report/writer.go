package report

import (
	"fmt"
	"io"
)

// Writer shows the rows of one table. It is not safe for concurrent use.
type Writer interface {
	// Row adds a row, one value per column, each of its column's kind or missing.
	// After an error, Row and Close return that error. The slice is not kept.
	Row(values ...Value) error
	// Close writes the rest, such as JSON's closing bracket or a whole table for
	// people, without closing the underlying writer. Without Close the output is
	// incomplete.
	Close() error
}

// Options are additions for people; formats for programs ignore them.
type Options struct {
	Title string   // one line above the table
	Notes []string // lines below the table, such as coverage and signatures
	Wide  bool     // shows every column of a table whole, however wide it gets
}

// NewWriter returns a Writer of rows with these columns. Their names must differ, and
// at least one must not be hidden.
func NewWriter(w io.Writer, format Format, columns []Column, opts Options) Writer {
	switch format {
	case JSON:
		return newStream(w, columns, &jsonEncoder{keys: jsonKeys(columns), array: true})
	case JSONLines:
		return newStream(w, columns, &jsonEncoder{keys: jsonKeys(columns)})
	case CSV:
		return newStream(w, columns, &delimitedEncoder{columns: columns, separator: ',', text: appendCSVString})
	case TSV:
		return newStream(w, columns, &delimitedEncoder{columns: columns, separator: '\t', text: appendTSVString, missingText: `\N`})
	case Markdown:
		return newHeld(w, columns, opts, markdownRenderer{})
	case LaTeX:
		return newHeld(w, columns, opts, latexRenderer{})
	}
	return newHeld(w, columns, opts, tableRenderer{})
}

// fits panics if a row has more or fewer values than there are columns.
func fits(columns []Column, values []Value) {
	if len(values) != len(columns) {
		panic(fmt.Sprintf("report: %d values for %d columns", len(values), len(columns)))
	}
}

// flushSize is the number of bytes that a stream buffers.
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
	columns []Column
	rows    int
	err     error // the first
	w       io.Writer
	enc     encoder
	buf     []byte
}

func newStream(w io.Writer, columns []Column, enc encoder) *stream {
	s := &stream{columns: columns, w: w, enc: enc, buf: make([]byte, 0, flushSize+flushSize/4)}
	s.buf = enc.begin(s.buf)
	return s
}

func (s *stream) Row(values ...Value) error {
	fits(s.columns, values)
	s.buf = s.enc.row(s.buf, s.rows, values)
	if s.rows++; len(s.buf) >= flushSize {
		return s.flush()
	}
	return s.err
}

func (s *stream) Close() error {
	s.buf = s.enc.end(s.buf, s.rows)
	return s.flush()
}

func (s *stream) flush() error {
	if s.err == nil {
		if _, err := s.w.Write(s.buf); err != nil {
			s.err = err
		}
	}
	s.buf = s.buf[:0]
	return s.err
}

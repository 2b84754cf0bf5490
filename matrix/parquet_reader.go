package matrix

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

const parquetMagic = "PAR1"

// parquetSource reads rows of Parquet, one row group after the other.
type parquetSource struct {
	file   string
	groups []parquet.RowGroup
	column [numColumns]int // place in the file of each of our columns
	rows   parquet.Rows    // of the group in work, or nil
	buf    []parquet.Row
	have   []parquet.Row // those of buf that are still to come
	row    int64
	names  jsonline.Names
}

// NewParquetReader returns a Reader of Parquet of a size in bytes; name
// stands for it in errors. The columns may be in any order. Errors: r is not
// Parquet, is damaged, or has other columns than a matrix; the type is
// *Error.
func NewParquetReader(r io.ReaderAt, size int64, name string) (*Reader, error) {
	s, err := newParquetSource(r, size, name)
	if err != nil {
		return nil, err
	}
	return newReader(s, nil), nil
}

func openParquetFile(f *os.File) (source, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &Error{File: f.Name(), Err: errors.New("not a regular file, as Parquet must be; give JSON Lines for a stream")}
	}
	return newParquetSource(f, st.Size(), f.Name())
}

func newParquetSource(r io.ReaderAt, size int64, name string) (*parquetSource, error) {
	s := &parquetSource{file: name, buf: make([]parquet.Row, 256)}
	if err := s.open(r, size); err != nil {
		return nil, faultAt(s, 0, err)
	}
	return s, nil
}

func (s *parquetSource) open(r io.ReaderAt, size int64) error {
	if size == 0 {
		return errors.New("the file is empty; score again to write it")
	}
	magic := make([]byte, len(parquetMagic))
	if _, err := r.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	if string(magic) != parquetMagic {
		return errors.New("not a Parquet file; name it .jsonl if it is JSON Lines")
	}
	var f *parquet.File
	err := guard(func() (err error) {
		f, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return fmt.Errorf("the Parquet file is cut off or damaged (%w); score again to write it anew", err)
	}
	s.groups = f.RowGroups()
	return guard(func() error { return s.mapColumns(f.Schema()) })
}

// mapColumns checks the names and types of the file's columns.
func (s *parquetSource) mapColumns(schema *parquet.Schema) error {
	var seen []string
	for _, path := range schema.Columns() {
		name := strings.Join(path, ".")
		col := slices.Index(columns[:], name)
		if col < 0 || len(path) > 1 {
			return unknownColumn(name)
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("column %s is there twice", name)
		}
		leaf, _ := schema.Lookup(path...)
		if leaf.Node.Repeated() {
			return fmt.Errorf("column %s is a list; a row holds one value", name)
		}
		kind := leaf.Node.Type().Kind()
		var ok bool
		var want string
		switch col {
		case colReference, colReferences:
			ok, want = kind == parquet.Int32 || kind == parquet.Int64, "an INT32 or INT64"
		case colScore:
			ok, want = kind == parquet.Double, "a DOUBLE"
		default:
			ok, want = kind == parquet.ByteArray, "a BYTE_ARRAY of UTF-8"
		}
		if !ok {
			return fmt.Errorf("column %s is of type %v; want %s", name, leaf.Node.Type(), want)
		}
		seen = append(seen, name)
		s.column[col] = leaf.ColumnIndex
	}
	if len(seen) != numColumns {
		return missingColumns(seen)
	}
	return nil
}

// guard turns a panic of the library, which damaged files can cause, into an
// error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

func (s *parquetSource) locate(row int64) Error { return Error{File: s.file, Row: row} }

func (s *parquetSource) position() int64 { return s.row }

func (s *parquetSource) next(r *Row) error {
	if len(s.have) == 0 {
		if err := s.fill(); err == io.EOF {
			return err
		} else if err != nil {
			return faultAt(s, s.row+1, fmt.Errorf("the Parquet file is damaged (%w); score again to write it anew", err))
		}
	}
	values := s.have[0]
	s.have = s.have[1:]
	s.row++
	err := s.decode(values, r)
	if err == nil {
		err = r.checkText()
	}
	if err != nil {
		return faultAt(s, s.row, err)
	}
	return nil
}

// fill reads the next rows, at least one, or returns io.EOF.
func (s *parquetSource) fill() error {
	return guard(func() error {
		for {
			if s.rows == nil {
				if len(s.groups) == 0 {
					return io.EOF
				}
				s.rows = s.groups[0].Rows()
				s.groups = s.groups[1:]
			}
			n, err := s.rows.ReadRows(s.buf)
			if err == io.EOF {
				err = s.rows.Close()
				s.rows = nil
			}
			if err != nil {
				return err
			}
			if n > 0 {
				s.have = s.buf[:n]
				return nil
			}
		}
	})
}

// decode reads the values of a flat row, which are one per column in the
// file's order.
func (s *parquetSource) decode(values parquet.Row, r *Row) error {
	if len(values) != numColumns {
		return fmt.Errorf("%d values for %d columns", len(values), numColumns)
	}
	for col := range columns {
		if values[s.column[col]].IsNull() && col != colAggregate && col != colReference && col != colScore {
			return fmt.Errorf("column %s is null", columns[col])
		}
	}
	at := func(col int) parquet.Value { return values[s.column[col]] }
	name := func(col int) string { return s.names.Get(at(col).ByteArray()) }
	if id := at(colID).ByteArray(); r.ID != string(id) {
		r.ID = string(id)
	}
	r.System, r.Metric, r.Signature = name(colSystem), name(colMetric), name(colSignature)
	r.Aggregate = ""
	if !at(colAggregate).IsNull() {
		if r.Aggregate = name(colAggregate); r.Aggregate == "" {
			return errors.New(`column aggregate: want null or "native", not ""`)
		}
	}
	r.Reference = NoReference
	var err error
	if v := at(colReference); !v.IsNull() {
		if r.Reference, err = wholeNumber(v); err != nil {
			return fmt.Errorf("column reference: %w", err)
		}
	}
	if r.References, err = wholeNumber(at(colReferences)); err != nil {
		return fmt.Errorf("column references: %w", err)
	}
	if r.Status, err = metrics.ParseStatus(text.Brief(name(colStatus))); err != nil {
		return fmt.Errorf("column status: %w", err)
	}
	if r.Direction, err = parseDirection(name(colDirection)); err != nil {
		return fmt.Errorf("column direction: %w", err)
	}
	score := at(colScore)
	if err := checkScore(r.Status, score.IsNull()); err != nil {
		return err
	}
	r.Score = 0
	if r.Status == metrics.Scored {
		r.Score = score.Double()
	}
	return nil
}

// wholeNumber reads a whole number from 0.
func wholeNumber(v parquet.Value) (int, error) {
	n := int64(0)
	if v.Kind() == parquet.Int32 {
		n = int64(v.Int32())
	} else {
		n = v.Int64()
	}
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return int(n), nil
}

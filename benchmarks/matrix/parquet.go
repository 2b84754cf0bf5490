package matrix

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

const (
	parquetMagic = "PAR1"
	// digestKey is the key of the digest in the file's metadata.
	digestKey = "sha256"
	// parquetBatch is the number of rows passed to the library at a time.
	parquetBatch = 1 << 10
	// parquetGroup is the number of rows in a row group. A writer holds this many, encoded,
	// in memory.
	parquetGroup = 1 << 14
)

type parquetEncoder struct {
	w    *parquet.GenericWriter[row]
	rows []row
}

func newParquetEncoder(w io.Writer) encoder {
	return &parquetEncoder{w: parquet.NewGenericWriter[row](w, schema(),
		parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(parquetGroup),
		// A fixed name instead of the library's version, so that the same rows give
		// the same bytes.
		parquet.CreatedBy("refract", "1", "0"),
	)}
}

func (e *parquetEncoder) row(r *row, _ []byte) error {
	if e.rows = append(e.rows, *r); len(e.rows) < parquetBatch {
		return nil
	}
	return e.flush()
}

func (e *parquetEncoder) flush() error {
	_, err := e.w.Write(e.rows)
	e.rows = e.rows[:0]
	return err
}

func (e *parquetEncoder) end(digest string) error {
	if err := e.flush(); err != nil {
		return err
	}
	e.w.SetKeyValueMetadata(digestKey, digest)
	return e.w.Close()
}

// parquetSource reads rows of Parquet.
type parquetSource struct {
	file   string
	sum    string
	reader *parquet.GenericReader[row]
	buf    []row
	have   []row // rows of buf not yet returned
	row    int64
}

func openParquet(f *os.File, name string) (source, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &Error{File: name, Err: errors.New("not a regular file, as Parquet must be; give JSON Lines for a stream")}
	}
	return newParquetSource(f, st.Size(), name)
}

func newParquetSource(r io.ReaderAt, size int64, name string) (source, error) {
	s := &parquetSource{file: name, buf: make([]row, 256)}
	if err := s.open(r, size); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	return s, nil
}

func (s *parquetSource) open(r io.ReaderAt, size int64) error {
	magic := make([]byte, len(parquetMagic))
	if _, err := r.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	if string(magic) != parquetMagic {
		return &foreignError{errors.New("not a Parquet file; name it .jsonl if it is JSON Lines")}
	}
	foreign := false
	err := guard(func() error {
		f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		s.sum, _ = f.Lookup(digestKey)
		if foreign = f.Schema().String() != schema().String(); !foreign {
			s.reader = parquet.NewGenericReader[row](f)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the Parquet file is cut off or damaged (%w)", err)
	}
	if foreign {
		return &foreignError{errors.New("the columns are not those of a matrix, or have other types")}
	}
	return nil
}

// guard turns a panic of the library into an error. Damaged files can cause one.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

func (s *parquetSource) position() int64 { return s.row }

func (s *parquetSource) line(b []byte, r *row) []byte { return r.appendLine(b) }

func (s *parquetSource) digest() string { return s.sum }

func (s *parquetSource) next(r *row) error {
	if len(s.have) == 0 {
		err := guard(func() error {
			clear(s.buf)
			n, err := s.reader.Read(s.buf)
			if s.have = s.buf[:n]; n > 0 {
				return nil
			}
			return err
		})
		if err == io.EOF {
			return err
		} else if err != nil {
			return &Error{File: s.file, Line: s.row + 1, Err: fmt.Errorf("the Parquet file is damaged (%w)", err)}
		}
	}
	*r, s.have = s.have[0], s.have[1:]
	s.row++
	if err := r.parse(); err != nil {
		return &Error{File: s.file, Line: s.row, Err: err}
	}
	return nil
}

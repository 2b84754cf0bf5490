package matrix

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// maxLine bounds a line of JSON Lines, in bytes. Rows have a few hundred.
const maxLine = 16 << 20

// jsonlSource reads rows of JSON Lines.
type jsonlSource struct {
	file   string
	r      *bufio.Reader
	line   int64
	long   []byte // holds a line that is longer than r's buffer
	parser lineParser
}

// NewJSONLReader returns a Reader of a stream of JSON Lines; name stands for
// it in errors.
func NewJSONLReader(r io.Reader, name string) *Reader {
	return newReader(newJSONLSource(r, name), nil)
}

func newJSONLSource(r io.Reader, name string) *jsonlSource {
	return &jsonlSource{file: name, r: bufio.NewReaderSize(r, 64<<10), parser: lineParser{names: interner{}}}
}

func openJSONL(f *os.File) (source, error) {
	s := newJSONLSource(f, f.Name())
	if b, err := s.r.Peek(len(parquetMagic)); err == nil && string(b) == parquetMagic {
		return nil, faultAt(s, 0, errors.New("this is a Parquet file; name it .parquet"))
	}
	return s, nil
}

func (s *jsonlSource) locate(line int64) Error { return Error{File: s.file, Line: line} }

func (s *jsonlSource) position() int64 { return s.line }

func (s *jsonlSource) next(r *Row) error {
	line, whole, err := s.read()
	if err == io.EOF {
		return err
	}
	s.line++
	if err == nil {
		err = s.parse(line, r)
	}
	if err == nil {
		return nil
	}
	if !whole {
		err = fmt.Errorf("%w; the last line has no end, so the file may be cut off", err)
	}
	return faultAt(s, s.line, err)
}

func (s *jsonlSource) parse(line []byte, r *Row) error {
	if s.line == 1 && bytes.HasPrefix(line, []byte("\ufeff")) {
		return errors.New("the file begins with a byte order mark; store it without")
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("blank line; remove it")
	}
	if !utf8.Valid(line) {
		return errors.New("invalid UTF-8; store the file as UTF-8")
	}
	if err := s.parser.row(line, r); err != nil {
		return err
	}
	return r.check()
}

// read returns the next line without its end, and whether it has one.
func (s *jsonlSource) read() (line []byte, whole bool, err error) {
	b, err := s.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		s.long = append(s.long[:0], b...)
		for err == bufio.ErrBufferFull {
			if len(s.long) > maxLine {
				return nil, true, fmt.Errorf("the line is longer than %d MiB; this is no row of a matrix", maxLine>>20)
			}
			b, err = s.r.ReadSlice('\n')
			s.long = append(s.long, b...)
		}
		b = s.long
	}
	switch {
	case err == nil:
		return b[:len(b)-1], true, nil
	case err == io.EOF && len(b) > 0:
		return b, false, nil
	default:
		return nil, true, err
	}
}

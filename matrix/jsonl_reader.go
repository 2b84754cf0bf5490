package matrix

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// maxLine bounds a line of JSON Lines, in bytes. Rows have a few hundred.
const maxLine = 16 << 20

// jsonlSource reads rows of JSON Lines.
type jsonlSource struct {
	file  string
	r     *bufio.Reader
	line  int64
	long  []byte // holds a line that is longer than r's buffer
	json  jsonline.Reader
	names jsonline.Names
	seen  []string // the columns of a row
}

// NewJSONLReader returns a Reader of a stream of JSON Lines; name stands for
// it in errors.
func NewJSONLReader(r io.Reader, name string) *Reader {
	return newReader(newJSONLSource(r, name), nil)
}

func newJSONLSource(r io.Reader, name string) *jsonlSource {
	return &jsonlSource{file: name, r: bufio.NewReaderSize(r, 64<<10)}
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
	e := s.locate(s.line)
	if fault := (*jsonline.Error)(nil); errors.As(err, &fault) {
		e.Column = int64(fault.Offset) + 1
	}
	e.Err = err
	return &e
}

func (s *jsonlSource) parse(line []byte, r *Row) error {
	if s.line == 1 && bytes.HasPrefix(line, []byte("\ufeff")) {
		return errors.New("the file begins with a byte order mark; store it without")
	}
	if len(line) == 0 || line[0] != '{' && len(bytes.TrimSpace(line)) == 0 {
		return errors.New("blank line; remove it")
	}
	if err := s.row(line, r); err != nil {
		if !utf8.Valid(line) {
			return errors.New("invalid UTF-8; store the file as UTF-8")
		}
		return err
	}
	return r.check()
}

// row reads one line into all fields of r.
func (s *jsonlSource) row(line []byte, r *Row) error {
	s.json.Reset(line)
	s.names.Line()
	if s.json.Kind() != jsonline.Object {
		return errors.New("not a score matrix: a line must be a JSON object")
	}
	s.seen = s.seen[:0]
	scored := false
	err := s.json.Fields(columns[:], func(column string) (err error) {
		s.seen = append(s.seen, column)
		switch column {
		case "id":
			var id []byte
			if id, err = s.json.Bytes(); r.ID != string(id) {
				r.ID = string(id)
			}
		case "system":
			r.System, err = s.name()
		case "metric":
			r.Metric, err = s.name()
		case "aggregate":
			r.Aggregate = ""
			err = s.json.OrNull(func() (err error) {
				at := s.json.Offset()
				if r.Aggregate, err = s.name(); err == nil && r.Aggregate == "" {
					err = jsonline.Unwanted(at, `null or "native"`, `""`)
				}
				return err
			})
		case "reference":
			r.Reference = NoReference
			err = s.json.OrNull(func() (err error) {
				r.Reference, err = s.json.Index()
				return err
			})
		case "references":
			r.References, err = s.json.Index()
		case "score":
			r.Score, scored, err = s.json.OptionalFloat()
		case "status":
			r.Status, err = parsed(s, metrics.ParseStatus)
		case "direction":
			r.Direction, err = parsed(s, parseDirection)
		case "signature":
			r.Signature, err = s.name()
		}
		return err
	})
	if err == nil {
		err = s.json.End()
	}
	if err != nil {
		return err
	}
	if len(s.seen) != numColumns {
		return missingColumns(s.seen)
	}
	return checkScore(r.Status, !scored)
}

// name reads a string that repeats from row to row.
func (s *jsonlSource) name() (string, error) {
	b, err := s.json.Bytes()
	if err != nil {
		return "", err
	}
	return s.names.Get(b), nil
}

// parsed reads a string that stands for a value.
func parsed[T any](s *jsonlSource, parse func(string) (T, error)) (value T, err error) {
	at := s.json.Offset()
	name, err := s.name()
	if err == nil {
		if value, err = parse(text.Brief(name)); err != nil {
			err = jsonline.Fault(at, "%v", err)
		}
	}
	return value, err
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

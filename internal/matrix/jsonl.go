package matrix

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// maxLine bounds a line of JSON Lines, in bytes. Rows have a few hundred.
const maxLine = 16 << 20

// digestHead and digestTail stand around the digest in the last line.
const (
	digestHead = `{"sha256":"`
	digestTail = `"}`
)

type jsonlEncoder struct{ w *bufio.Writer }

func newJSONLEncoder(w io.Writer) encoder { return jsonlEncoder{bufio.NewWriterSize(w, 64<<10)} }

func (e jsonlEncoder) row(_ *row, line []byte) error {
	_, err := e.w.Write(line)
	return err
}

func (e jsonlEncoder) end(digest string) error {
	fmt.Fprintf(e.w, "%s%s%s\n", digestHead, digest, digestTail) // its error is kept for Flush
	return e.w.Flush()
}

// jsonlSource reads rows of JSON Lines.
type jsonlSource struct {
	file  string
	lines *bufio.Scanner
	at    int64 // the line
	sum   string
	json  *jsonline.Reader
	names jsonline.Names

	fields []jsonline.Field
	read   row // by them
	scored bool
	there  [numColumns]bool // its columns
}

func newJSONLSource(in io.Reader, name string) *jsonlSource {
	s := &jsonlSource{file: name, lines: bufio.NewScanner(in), json: &jsonline.Reader{}}
	s.lines.Buffer(make([]byte, 64<<10), maxLine)
	r, now := s.json, &s.read
	s.fields = []jsonline.Field{
		jsonline.With("id", func() error {
			id, err := r.Bytes()
			if now.id != string(id) {
				now.id = string(id)
			}
			return err
		}),
		jsonline.To("system", &now.system, s.name),
		jsonline.To("metric", &now.metric, s.name),
		optional(jsonline.To("aggregate", &now.aggregate, s.name)),
		optional(jsonline.To("reference", &now.reference, r.Index)),
		jsonline.To("references", &now.references, r.Index),
		jsonline.With("score", func() (err error) {
			now.score, s.scored, err = r.OptionalFloat()
			return err
		}),
		jsonline.To("status", &now.status, parsed(s, metrics.ParseStatus)),
		jsonline.To("direction", &now.direction, parsed(s, metrics.ParseDirection)),
		jsonline.To("signature", &now.signature, s.name),
		optional(jsonline.To("output_hash", &now.output, s.name)),
		optional(jsonline.To("reference_hash", &now.against, s.name)),
	}
	for i := range s.fields {
		s.fields[i].Seen = &s.there[i]
	}
	return s
}

func optional(f jsonline.Field) jsonline.Field {
	f.Optional = true
	return f
}

func openJSONL(f *os.File, name string) (source, error) {
	return newJSONLSource(packed.NewReader(f), name), nil
}

func (s *jsonlSource) locate(line int64) Error { return Error{File: s.file, Line: line} }

func (s *jsonlSource) position() int64 { return s.at }

// line is the row as it stands in the file, which is quicker than to write it
// again. Line ends do not count.
func (s *jsonlSource) line(b []byte, _ *row) []byte {
	return append(append(b, s.lines.Bytes()...), '\n')
}

func (s *jsonlSource) digest() string { return s.sum }

func (s *jsonlSource) next(r *row) error {
	more := s.lines.Scan()
	s.at++
	err := s.lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("the line is longer than %d MiB; this is no row of a matrix", maxLine>>20)
	case err == nil && !more:
		return io.EOF
	case err == nil:
		err = s.parse(s.lines.Bytes(), r)
	}
	if err == nil {
		return nil
	}
	if err == errDigest {
		return s.next(r)
	}
	e := s.locate(s.at)
	if fault := (*jsonline.Error)(nil); errors.As(err, &fault) {
		e.Column = int64(fault.Offset) + 1
		if s.at == 1 && fault.Foreign() {
			err = &foreignError{err}
		}
	}
	e.Err = err
	return &e
}

// errDigest says that a line is that of the digest.
var errDigest = errors.New("the line of the digest")

func (s *jsonlSource) parse(line []byte, r *row) error {
	switch {
	case s.sum != "":
		return errors.New("a line behind that of the digest; a file holds one matrix")
	case s.at == 1 && bytes.HasPrefix(line, []byte(parquetMagic)):
		return errors.New("this is a Parquet file; name it .parquet")
	case s.at == 1 && bytes.HasPrefix(line, []byte("\ufeff")):
		return errors.New("the file begins with a byte order mark; store it without")
	case len(bytes.TrimSpace(line)) == 0:
		return errors.New("blank line; remove it")
	}
	if sum, ok := bytes.CutPrefix(line, []byte(digestHead)); ok {
		s.sum = string(bytes.TrimSuffix(sum, []byte(digestTail)))
		return errDigest
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
func (s *jsonlSource) row(line []byte, r *row) error {
	s.json.Reset(line)
	s.names.Line()
	if s.json.Kind() != jsonline.Object {
		return &foreignError{errors.New("a line must be a JSON object")}
	}
	s.scored, s.there = false, [numColumns]bool{}
	s.read = row{id: s.read.id, reference: noReference}
	if err := s.json.Whole(s.fields...); err != nil {
		return err
	}
	*r = s.read
	if slices.Contains(s.there[:], false) {
		return missingColumns(func(i int) bool { return s.there[i] })
	}
	return checkScore(r.status, !s.scored)
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
func parsed[T any](s *jsonlSource, parse func(string) (T, error)) func() (T, error) {
	return func() (value T, err error) {
		at := s.json.Offset()
		name, err := s.name()
		if err == nil {
			if value, err = parse(text.Brief(name)); err != nil {
				err = jsonline.Fault(at, "%v", err)
			}
		}
		return value, err
	}
}

package matrix

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/jsonline"
)

// maxLine bounds a line of JSON Lines in bytes. Rows have a few hundred.
const maxLine = 16 << 20

// digestHead and digestTail surround the digest in the last line.
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
	fmt.Fprintf(e.w, "%s%s%s\n", digestHead, digest, digestTail) // Flush returns its error
	return e.w.Flush()
}

// jsonlSource reads rows of JSON Lines.
type jsonlSource struct {
	file  string
	lines *bufio.Scanner
	at    int64 // current line
	sum   string
}

func newJSONLSource(in io.Reader, name string) *jsonlSource {
	s := &jsonlSource{file: name, lines: bufio.NewScanner(in)}
	s.lines.Buffer(make([]byte, 64<<10), maxLine)
	return s
}

func openJSONL(f *os.File, name string) (source, error) {
	return newJSONLSource(files.NewReader(f), name), nil
}

func (s *jsonlSource) position() int64 { return s.at }

// line returns the row as it is in the file, without its line end. This is faster than
// encoding it again.
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
		err = fmt.Errorf("the line is longer than %d MiB; this is not a row of a matrix", maxLine>>20)
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
	e := &Error{File: s.file, Line: s.at}
	if fault := (*jsonline.Error)(nil); errors.As(err, &fault) {
		e.Column = int64(fault.Offset) + 1
		if s.at == 1 && fault.Foreign {
			err = &foreignError{err}
		}
	}
	e.Err = err
	return e
}

// errDigest says that a line contains the digest.
var errDigest = errors.New("the line of the digest")

func (s *jsonlSource) parse(line []byte, r *row) error {
	switch {
	case s.sum != "":
		return errors.New("a line after the digest; a file holds only one matrix")
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
	*r = row{}
	err := jsonline.Unmarshal(line, r, "a line")
	if err == nil {
		err = r.parse()
	}
	if err != nil && !utf8.Valid(line) {
		return errors.New("invalid UTF-8; store the file as UTF-8")
	}
	return err
}

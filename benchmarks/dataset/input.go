package dataset

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"sync/atomic"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/files"
)

// input is a file that can be opened for each pass over a dataset, or a stream (standard
// input, a pipe), which allows only one pass.
type input struct {
	name    string
	json    bool      // JSON Lines: whoever reads the lines checks them, and blank ones may end the file
	objects bool      // the lines are objects, which may also stand in an array; true of json too
	field   string    // of JSON Lines: the field with the text; "" for plain text
	stdin   io.Reader // read instead of a file, if set
	stream  bool      // its next line may be long in coming
	role    role      // what its lines are
	used    atomic.Bool
	// of a part of a plain file: where it begins and ends, whether lines follow that are not blank,
	// and the lines before
	from, to int64
	more     bool
	after    *refract.Lines
}

// between returns a part of a plain file of a size.
func (in *input) between(from, to, size int64) *input {
	part := &input{name: in.name, json: in.json, role: in.role, from: from, to: to, more: to < size}
	if from > 0 {
		part.after = refract.NewLines(func() int {
			n, _ := in.between(0, from, size).countLines() // without a number the error is still the same
			return n
		})
	}
	return part
}

// input opens a file, or standard input for "-".
func (o *Options) input(path string) (*input, error) {
	if path != "-" {
		return newInput(path)
	}
	in := &input{name: "<stdin>", stdin: o.Stdin, stream: true}
	if in.stdin == nil {
		in.stdin = os.Stdin
	}
	return in, nil
}

// OpenText opens a file for one reading, or standard input for "-", uncompressed, and returns its
// name for errors. The reading stops when the context ends.
func (o Options) OpenText(ctx context.Context, path string) (text io.ReadCloser, name string, err error) {
	in, err := o.input(path)
	if err != nil {
		return nil, "", err
	}
	text, err = in.open(ctx)
	return text, in.name, err
}

// newInput checks that the file exists and is readable.
func newInput(path string) (*input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if info.IsDir() {
		return nil, failFile(path, "is a directory, not a file")
	}
	in := &input{name: path, stream: !info.Mode().IsRegular()}
	if !in.stream {
		f, err := os.Open(path)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return nil, fileError(path, err)
		}
	}
	return in, nil
}

// newRegular is newInput for files that are read in several passes.
func newRegular(path string) (*input, error) {
	in, err := newInput(path)
	if err == nil && in.stream {
		return nil, failFile(path, "is not a regular file")
	}
	return in, err
}

// fileError names the path of an operating system's error once.
func fileError(path string, err error) error {
	return &Error{Pos: refract.Position{File: path}, Err: files.Cause(err)}
}

// open begins a pass over the content, uncompressed. A stream stops with the context's
// error when the context ends, even while it waits for input.
func (in *input) open(ctx context.Context) (io.ReadCloser, error) {
	if !in.stream {
		f, err := os.Open(in.name)
		if err != nil {
			return nil, fileError(in.name, err)
		}
		if in.to > 0 {
			part := struct {
				io.Reader
				io.Closer
			}{io.NewSectionReader(f, in.from, in.to-in.from), f}
			return &unicodeReader{ReadCloser: part, in: in, begun: in.from > 0}, nil
		}
		return &unicodeReader{ReadCloser: files.NewReader(f), in: in}, nil
	}
	if in.used.Swap(true) {
		return nil, failFile(in.name, "is a stream and can be read only once; store it in a file first")
	}
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	go func() {
		pw.CloseWithError(in.copyTo(pw))
	}()
	return &unicodeReader{ReadCloser: files.NewReader(&stream{PipeReader: pr, stop: stop}), in: in}, nil
}

// western matches four letters of UTF-16, in either byte order.
var western = regexp.MustCompile(`^(?:(?:[ -~]\x00){4}|(?:\x00[ -~]){4})`)

// unicodeReader detects files that are not what they should be: Parquet, UTF-16 (by its byte order
// mark or by the NULs of four Western letters), and tables where a text a line is wanted.
type unicodeReader struct {
	io.ReadCloser
	in    *input
	begun bool
}

func (r *unicodeReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if r.begun || n == 0 {
		return n, err
	}
	r.begun = true
	for err == nil && n < min(len(b), countBuffer) && bytes.IndexByte(b[:n], '\n') < 0 { // a whole line shows what the file is
		k := 0
		k, err = r.ReadCloser.Read(b[n:])
		n += k
	}
	begin := b[:n]
	if bytes.HasPrefix(begin, []byte("PAR1")) {
		if r.in.role == outputs {
			return 0, r.in.notText(isParquet, nil)
		}
		return 0, errors.New("the file is Parquet, not text; read it as a table, as in 'table:FILE,reference=COLUMN,system:NAME=COLUMN'")
	}
	if bytes.HasPrefix(begin, []byte("\xff\xfe")) || bytes.HasPrefix(begin, []byte("\xfe\xff")) || western.Match(begin) {
		return 0, errors.New("the file is UTF-16; store it as UTF-8, as with iconv -f UTF-16 -t UTF-8")
	}
	if r.in.role != formatted {
		if kind := r.in.table(begin); kind != "" {
			return 0, r.in.notText(kind, begin)
		}
	}
	return n, err
}

// copyTo opens the stream here because opening a named pipe may block too.
func (in *input) copyTo(w io.Writer) error {
	from := in.stdin
	if from == nil {
		f, err := os.Open(in.name)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	_, err := io.Copy(w, from)
	return err
}

type stream struct {
	*io.PipeReader
	stop func() bool
}

func (s *stream) Close() error {
	s.stop()
	return s.PipeReader.Close()
}

// countLines counts the lines of a regular file; the last may lack its line end.
func (in *input) countLines() (int, error) {
	f, err := in.open(context.Background())
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buf := make([]byte, countBuffer)
	n, last := 0, byte('\n')
	for {
		k, err := f.Read(buf)
		if k > 0 {
			n += bytes.Count(buf[:k], []byte{'\n'})
			last = buf[k-1]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, fileError(in.name, err)
		}
	}
	if last != '\n' {
		n++
	}
	return n, nil
}

const countBuffer = 32 << 10

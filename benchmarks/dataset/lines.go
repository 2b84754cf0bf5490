package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
)

// lineReader reads the lines of a file, of at most maxLine bytes each. It removes a byte
// order mark and carriage returns before line ends, with a warning each, and refuses
// invalid UTF-8.
type lineReader struct {
	in     *input
	line   int // number of the line that next returned
	r      *bufio.Reader
	closer io.Closer
	long   []byte // holds a line that does not fit r's buffer
	warn   func(Warning)
	crlf   bool // has warned
	// spread are the objects of a file of JSON without an object a line; the numbers of lines
	// are then those of objects.
	spread *objects
}

const lineBuffer = 128 << 10

// maxLine bounds a line while it is read: a segment has far less text, and JSON's escapes
// take up to three times as much room.
const maxLine = 4 * refract.DefaultMaxText

func (in *input) lines(ctx context.Context, warn func(Warning)) (*lineReader, error) {
	f, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	l := newLineReader(in, f, warn)
	l.closer = f
	if in.to == 0 && (in.json || in.objects) {
		if _, err := l.r.Peek(1); err != nil && err != io.EOF {
			f.Close()
			l.line++
			return nil, &Error{Pos: l.pos(), Err: err}
		}
		l.spread = openObjects(l.r)
	}
	return l, nil
}

func newLineReader(in *input, r io.Reader, warn func(Warning)) *lineReader {
	return &lineReader{in: in, r: bufio.NewReaderSize(r, lineBuffer), warn: warn}
}

func (l *lineReader) close() {
	if l.closer != nil {
		l.closer.Close() // only read, so errors do not matter
	}
}

func (l *lineReader) pos() refract.Position {
	return refract.Position{File: l.in.name, Line: l.line, After: l.in.after}
}

// next returns the next line without its end, or io.EOF. The bytes are valid
// until the following call.
func (l *lineReader) next() ([]byte, error) {
	b, err := l.any()
	for err == nil && l.in.json && bytes.HasPrefix(b, []byte(PartHead)) {
		b, err = l.any()
	}
	if err != nil {
		return nil, err
	}
	if !l.in.json {
		return b, checkUTF8Line(b, l.pos())
	}
	if !blank(b) {
		return b, nil
	}
	for at := l.pos(); ; {
		switch b, err := l.any(); {
		case err == io.EOF && l.in.more:
			return nil, failAt(at, 0, "blank line before further segments; remove it")
		case err == io.EOF:
			l.line = at.Line - 1 // blank lines do not count
			return nil, err
		case err != nil:
			return nil, err
		case !blank(b):
			return nil, failAt(at, 0, "blank line before further segments; remove it")
		}
	}
}

func blank(line []byte) bool { return len(bytes.TrimLeft(line, " \t\r")) == 0 }

// any is next for lines of any kind.
func (l *lineReader) any() ([]byte, error) {
	if l.spread != nil {
		return l.object()
	}
	b, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], b...)
		for err == bufio.ErrBufferFull {
			b, err = l.r.ReadSlice('\n')
			if len(l.long) > 1<<20 {
				l.long = slices.Grow(l.long, maxLine+lineBuffer-len(l.long)) // at once: growing by and by holds a line several times
			}
			if l.long = append(l.long, b...); len(l.long) > maxLine {
				l.line++
				return nil, failAt(l.pos(), 0, "the line has more than %d MiB; is this a file of a segment a line?", maxLine>>20)
			}
		}
		b = l.long
	}
	if err == io.EOF && len(b) == 0 {
		return nil, io.EOF
	}
	l.line++
	if err != nil && err != io.EOF {
		return nil, &Error{Pos: l.pos(), Err: err}
	}
	if n := len(b) - 1; b[n] == '\n' {
		b = b[:n]
		if n > 0 && b[n-1] == '\r' {
			b = b[:n-1]
			if !l.crlf {
				l.crlf = true
				l.warn(Warning{l.pos(), "lines end in carriage return and newline; the carriage returns are removed"})
			}
		}
	}
	if l.line == 1 && l.in.after == nil && bytes.HasPrefix(b, []byte("\ufeff")) {
		b = b[len("\ufeff"):]
		l.warn(Warning{l.pos(), "the file begins with a byte order mark, which is removed"})
	}
	return b, nil
}

// object is any for files without an object a line.
func (l *lineReader) object() ([]byte, error) {
	b, err := l.spread.next()
	if err == io.EOF {
		return nil, err
	}
	l.line++
	if errors.Is(err, errTooLong) {
		return nil, failAt(l.pos(), 0, "the object has more than %d MiB", maxLine>>20)
	}
	if err != nil {
		return nil, failAt(l.pos(), 0, "after %s: %w", english.Count(l.line-1, "object"), jsonline.Explain(err, ""))
	}
	return b, nil
}

// each calls read with every remaining line.
func (l *lineReader) each(read func(line []byte, pos refract.Position) error) error {
	for {
		line, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = read(line, l.pos())
		}
		if err != nil {
			return err
		}
	}
}

// each calls read with every line of a pass.
func (in *input) each(ctx context.Context, warn func(Warning), read func(line []byte, pos refract.Position) error) error {
	l, err := in.lines(ctx, warn)
	if err != nil {
		return err
	}
	defer l.close()
	return l.each(read)
}

// eachLine calls read with every line of a regular file.
func eachLine(path string, warn func(Warning), read func(line []byte, pos refract.Position) error) error {
	in, err := newRegular(path)
	if err != nil {
		return err
	}
	return in.each(context.Background(), warn, read)
}

func checkUTF8Line(line []byte, pos refract.Position) error {
	if utf8.Valid(line) {
		return nil
	}
	return failAt(pos, 0, "invalid UTF-8 at byte %d of the line; store the file as UTF-8", invalidByte(line)+1)
}

// add adds the next line to a chunk, which is full if a stream has no more so far.
func (l *lineReader) add(c *chunk[[]byte]) error {
	line, err := l.next()
	if err != nil {
		return err
	}
	start := len(c.text)
	c.text = append(c.text, line...)
	c.add(c.text[start:len(c.text):len(c.text)], l.line, len(line))
	c.full = l.in.stream && l.wouldWait()
	return nil
}

// wouldWait reports whether no whole line is there yet.
func (l *lineReader) wouldWait() bool {
	there, _ := l.r.Peek(l.r.Buffered())
	return l.spread != nil || bytes.IndexByte(there, '\n') < 0
}

// decodeLines decodes every line of a pass on all cores, and calls each with the results in
// order.
func decodeLines[T any](ctx context.Context, in *input, warn func(Warning), decode func(line []byte, pos refract.Position) (T, error), each func(T) error) error {
	var l *lineReader
	defer func() {
		if l != nil {
			l.close()
		}
	}()
	var now *chunk[[]byte]
	next := func(ctx context.Context, c *chunk[[]byte]) (err error) {
		if now = c; l == nil {
			if l, err = in.lines(ctx, func(w Warning) { now.warnings = append(now.warnings, w) }); err != nil {
				return err
			}
		}
		return l.add(c)
	}
	decodeOne := func(c *chunk[[]byte], i int) (T, error) {
		return decode(c.items[i], refract.Position{File: in.name, Line: c.numbers[i], After: in.after})
	}
	return inOrder(ctx, next, decodeOne, warn, each)
}

// drain reads to the end, so that line becomes the number of lines.
func (l *lineReader) drain() error {
	return l.each(func([]byte, refract.Position) error { return nil })
}

// invalidByte returns the index of the first byte of invalid UTF-8.
func invalidByte(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

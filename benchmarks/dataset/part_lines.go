package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/text"
)

// CutLines returns part i of n of a file of lines, and what it is cut out of. A
// part ends with a line, and blank lines go with what follows them. It is nil of
// a packed file.
func CutLines(ctx context.Context, path string, i, n int) (*LinesPart, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError(path, err)
	}
	if is, err := packed.Is(f); is || err != nil {
		return nil, err
	}
	p := &LinesPart{path: path, Input: Input{Unit: unitBytes, Size: info.Size()}}
	if p.From, err = cutLines(f, p.Size, share(p.Size, i-1, n)); err == nil {
		p.To, err = cutLines(f, p.Size, share(p.Size, i, n))
	}
	whole, part := sha256.New(), sha256.New()
	if err == nil {
		err = addSamples(whole, f, p.Size)
	}
	if err == nil {
		_, err = io.Copy(part, &interrupted{ctx, io.NewSectionReader(f, p.From, p.To-p.From)})
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	p.Whole, p.Part = hex.EncodeToString(whole.Sum(nil)), hex.EncodeToString(part.Sum(nil))
	return p, nil
}

// LinesPart is a part of a file of lines.
type LinesPart struct {
	Input
	path string
}

// Name is what errors call the part while it is read, as its lines are counted from
// its own first one.
func (p *LinesPart) Name() string {
	if p.From == 0 {
		return p.path
	}
	return fmt.Sprintf("%s, from byte %d on", text.Path(p.path), p.From)
}

// Placed gives an error of the part its line of the whole file. What stands before
// the part is counted then, and not for each run.
func (p *LinesPart) Placed(err error) error {
	var fault *Error
	if p.From == 0 || !errors.As(err, &fault) || fault.Pos.File != p.Name() || fault.Pos.Line == 0 {
		return err
	}
	before, failed := (&input{name: p.path, part: &LinesPart{Input{To: p.From}, p.path}}).countLines()
	if failed == nil {
		fault.Pos = refract.Position{File: p.path, Line: before + fault.Pos.Line}
	}
	return err
}

// Open opens the part for reading.
func (p *LinesPart) Open() (io.ReadCloser, error) {
	f, err := os.Open(p.path)
	if err != nil {
		return nil, fileError(p.path, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, p.From, p.To-p.From), f}, nil
}

// interrupted is a reader that ends with a context.
type interrupted struct {
	ctx context.Context
	r   io.Reader
}

func (r *interrupted) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// cutLines returns where the first line begins at or behind a place, or the
// blank lines before it.
func cutLines(f io.ReaderAt, size, at int64) (int64, error) {
	if at <= 0 || at >= size {
		return min(size, at), nil
	}
	buf := make([]byte, lineBuffer)
	for at--; at < size; {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if n == 0 {
			return 0, err
		}
		if k := bytes.IndexByte(buf[:n], '\n'); k >= 0 {
			return beforeBlank(f, buf, at+int64(k)+1)
		}
		at += int64(n)
	}
	return size, nil
}

// beforeBlank moves a place at the end of a line before the blank lines there.
func beforeBlank(f io.ReaderAt, buf []byte, at int64) (int64, error) {
	cut := at
	for at > 0 {
		n := min(int64(len(buf)), at)
		at -= n
		if _, err := f.ReadAt(buf[:n], at); err != nil {
			return 0, err
		}
		for k := n - 1; k >= 0; k-- {
			switch buf[k] {
			case '\n':
				cut = at + k + 1
			case ' ', '\t', '\r':
			default:
				return cut, nil
			}
		}
	}
	return 0, nil
}

package files

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Beyond free bytes, what is read may be as many times as large as the file that
// holds it as mostTimes says. Texts are ten times as large; what is larger may be
// there to exhaust a program.
const (
	free      = 64 << 20
	mostTimes = 250
	window    = 128 << 20 // of Zstandard, which is that of zstd --long
)

// TooLarge reports whether bytes that are given are too many for the bytes of a file that hold them.
func TooLarge(given, taken int64) bool { return given > free && given/mostTimes > taken }

// Unpacked is a file's name without .gz or .zst.
func Unpacked(path string) string {
	if ext := filepath.Ext(path); strings.EqualFold(ext, ".gz") || strings.EqualFold(ext, ".zst") {
		return path[:len(path)-len(ext)]
	}
	return path
}

// kindOf tells by the first bytes how a file is packed, "" where it is not. No
// text in UTF-8 begins so.
func kindOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "Zstandard"
	}
	return ""
}

// reader tells by the first bytes, once it is read, whether the file is packed.
type reader struct {
	file  io.ReadCloser
	front *bufio.Reader // of the file
	taken int64         // from the file
	fault error         // of the file itself
	kind  string        // "" where it is not packed
	out   io.Reader     // nil before the first read
	given int64
}

// NewReader returns a reader of what a file holds, packed or not. Its errors say
// what is wrong with a packed file, and not which it is. Close closes the file.
func NewReader(file io.ReadCloser) io.ReadCloser {
	r := &reader{file: file}
	r.front = bufio.NewReaderSize((*counted)(r), 16<<10)
	return r
}

// Open opens a file to read what it holds, packed or not.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return NewReader(f), nil
}

// counted is the file of a reader.
type counted reader

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.taken += int64(n)
	if err != nil && err != io.EOF {
		c.fault = err
	}
	return n, err
}

// begin looks at the first bytes.
func (r *reader) begin() {
	var err error
	head, _ := r.front.Peek(4) // what is wrong shows when it is read
	r.out = r.front
	switch r.kind = kindOf(head); r.kind {
	case "gzip":
		r.out, err = gzip.NewReader(r.front)
	case "Zstandard":
		// With one goroutine, the caller's, there is nothing to close.
		r.out, err = zstd.NewReader(r.front, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	}
	if err != nil { // for every read
		failed, w := io.Pipe()
		w.CloseWithError(err)
		r.out = failed
	}
}

func (r *reader) Read(p []byte) (int, error) {
	if r.out == nil {
		r.begin()
	}
	n, err := r.out.Read(p)
	if r.kind == "" {
		return n, err
	}
	switch r.given += int64(n); {
	case TooLarge(r.given, r.taken):
		return 0, fmt.Errorf("what is packed in it is more than %d times as large as the file; unpack it yourself if that is right", mostTimes)
	case r.fault != nil:
		return n, r.fault
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("the file is packed with %s, and cut off or damaged: %w", r.kind, err)
	}
	return n, err
}

func (r *reader) Close() error { return r.file.Close() }

// NewWriter returns a writer that packs a file of that name, or nil where the
// name asks for none. Close ends the packed form, and leaves w open.
func NewWriter(w io.Writer, name string) (io.WriteCloser, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return gzip.NewWriter(w), nil
	case ".zst":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nil, nil
}

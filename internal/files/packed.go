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

// Beyond the first free bytes, unpacked data may be at most mostTimes as large as the
// compressed file. Texts are about ten times as large; a much higher ratio suggests
// a file made to exhaust memory.
const (
	free      = 64 << 20
	mostTimes = 250
	window    = 128 << 20 // bytes of Zstandard's window; zstd --long uses as many
)

// TooLarge reports whether unpacking taken bytes of a file to given bytes exceeds these bounds.
func TooLarge(given, taken int64) bool { return given > free && given/mostTimes > taken }

// Unpacked returns a file's name without .gz or .zst.
func Unpacked(path string) string {
	if ext := filepath.Ext(path); strings.EqualFold(ext, ".gz") || strings.EqualFold(ext, ".zst") {
		return path[:len(path)-len(ext)]
	}
	return path
}

// kindOf tells from its first bytes how a file is compressed, "" if it is not. No
// UTF-8 text begins with these bytes.
func kindOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "Zstandard"
	}
	return ""
}

// IsPacked reports whether a file is compressed. One that cannot be read is not.
func IsPacked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	return kindOf(head[:n]) != ""
}

// reader finds out at the first Read whether the file is compressed.
type reader struct {
	file  io.ReadCloser
	front *bufio.Reader // buffers the file
	taken int64         // bytes read from the file
	fault error         // error of reading the file itself
	kind  string        // "" if the file is not compressed
	out   io.Reader     // nil before the first read
	given int64
}

// NewReader returns a reader of a file's contents, unpacked if the file is
// compressed. Its errors do not name the file. Close closes the file.
func NewReader(file io.ReadCloser) io.ReadCloser {
	r := &reader{file: file}
	r.front = bufio.NewReaderSize((*counted)(r), 16<<10)
	return r
}

// Open opens a file to read its contents, unpacked if it is compressed.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return NewReader(f), nil
}

// ReadSmall reads a file as it is, which may have at most so many MiB.
func ReadSmall(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most<<20+1))
	if err == nil && int64(len(b)) > most<<20 {
		err = fmt.Errorf("%s: has more than %d MiB, which no such file has", path, most)
	}
	return b, err
}

// counted reads a reader's file and counts the bytes.
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
	head, _ := r.front.Peek(4) // the read below returns the same error
	r.out = r.front
	switch r.kind = kindOf(head); r.kind {
	case "gzip":
		r.out, err = gzip.NewReader(r.front)
	case "Zstandard":
		// With concurrency 1 the decoder starts no goroutine, so it need not be closed.
		r.out, err = zstd.NewReader(r.front, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	}
	if err != nil { // every Read returns it
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
		return 0, fmt.Errorf("its unpacked content is more than %d times as large as the file; unpack it yourself if that is right", mostTimes)
	case r.fault != nil:
		return n, r.fault
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("the file is packed with %s, and cut off or damaged: %w", r.kind, err)
	}
	return n, err
}

func (r *reader) Close() error { return r.file.Close() }

// NewWriter returns a writer that compresses as the ending of name asks, or nil
// if it asks for no compression. Close completes the compressed data and leaves w open.
func NewWriter(w io.Writer, name string) (io.WriteCloser, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return gzip.NewWriter(w), nil
	case ".zst":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nil, nil
}

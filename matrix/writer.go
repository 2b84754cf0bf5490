package matrix

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/text"
)

// Writer writes the rows of a matrix. It is not safe for concurrent use.
type Writer interface {
	// Write adds a row, which it does not keep. A row that no reader would
	// accept is an error; after any error, Write and Close return that error.
	Write(*Row) error
	// Close writes what is left. It does not close the underlying writer.
	// A matrix that is not closed is incomplete.
	Close() error
}

var errClosed = errors.New("the matrix is closed already")

// format is a row of the table of file formats.
type format struct {
	extension string
	writer    func(io.Writer) Writer
	source    func(f *os.File) (source, error)
}

func formats() []format {
	return []format{
		{".jsonl", NewJSONLWriter, func(f *os.File) (source, error) { return openJSONL(f) }},
		{".parquet", NewParquetWriter, func(f *os.File) (source, error) { return openParquetFile(f) }},
	}
}

// formatOf finds the format of a file by its extension.
func formatOf(path string) (format, error) {
	for _, f := range formats() {
		if filepath.Ext(path) == f.extension {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("matrix %s: the extension must say the format; name the file .jsonl or .parquet", text.Quote(path))
}

// File is a Writer of a file, which appears under its name only when it is
// whole.
type File struct {
	w    Writer
	path string
	out  *atomicfile.File // nil once the file is closed or discarded
	err  error            // what closing gave
}

var _ Writer = (*File)(nil)

// Create makes a file for a matrix, in JSON Lines or Parquet as the extension
// .jsonl or .parquet says. Rows go to a temporary file beside it, which
// takes the name at Close; a file of that name stays as it is until then.
//
//	f, err := matrix.Create(path)
//	…
//	defer f.Discard()
//	… // write; return on any error
//	return f.Close()
func Create(path string) (*File, error) {
	format, err := formatOf(path)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("matrix %s is not a regular file; name another one", path)
	}
	out, err := atomicfile.Create(path)
	if err != nil {
		return nil, fmt.Errorf("matrix %w", err)
	}
	return &File{w: format.writer(out), path: path, out: out}, nil
}

// Write adds a row.
func (f *File) Write(r *Row) error {
	if f.out == nil {
		return errClosed
	}
	if err := f.w.Write(r); err != nil {
		return fmt.Errorf("matrix %s: %w", f.path, err)
	}
	return nil
}

// Close writes what is left and gives the file its name. After an error of
// Write, or of its own, it removes the temporary file. A second call returns
// what the first did.
func (f *File) Close() error {
	if f.out == nil {
		return f.err
	}
	if f.err = f.w.Close(); f.err == nil {
		f.err = f.out.Sync()
	}
	if f.err == nil {
		f.err = f.out.Commit()
	}
	if f.err != nil {
		f.err = fmt.Errorf("matrix %s: %w", f.path, f.err)
	}
	f.out.Abort()
	f.out = nil
	return f.err
}

// Discard removes what was written, unless the file is closed already.
func (f *File) Discard() {
	if f.out != nil {
		f.out.Abort()
		f.out, f.err = nil, errors.New("the matrix was discarded")
	}
}

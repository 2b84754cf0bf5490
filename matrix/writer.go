package matrix

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	return format{}, fmt.Errorf("matrix %s: the extension must say the format; name the file .jsonl or .parquet", quote(path))
}

// File is a Writer of a file, which appears under its name only when it is
// whole.
type File struct {
	w    Writer
	path string
	temp *os.File // nil once the file is closed or discarded
	err  error    // what closing gave
}

var _ Writer = (*File)(nil)

// Create makes a file for a matrix, in JSON Lines or Parquet as the extension
// .jsonl or .parquet says. Rows go to a temporary file beside it, which
// takes the name at Close; a file of that name stays as it is until then. A
// run that is killed leaves the temporary file, ".refract-*.tmp".
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
	temp, err := createBeside(path)
	if err != nil {
		return nil, fmt.Errorf("matrix %s cannot be written: %w", path, err)
	}
	return &File{w: format.writer(temp), path: path, temp: temp}, nil
}

// createBeside is os.CreateTemp, but with the permissions that the user's
// mask gives to new files, as the file is there to stay.
func createBeside(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".refract-%08x.tmp", rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// Write adds a row.
func (f *File) Write(r *Row) error {
	if f.temp == nil {
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
	if f.temp == nil {
		return f.err
	}
	temp := f.temp
	f.temp = nil
	err := f.w.Close()
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		f.err = fmt.Errorf("matrix %s: %w", f.path, errors.Join(err, os.Remove(temp.Name())))
	}
	return f.err
}

// Discard removes what was written, unless the file is closed already.
func (f *File) Discard() {
	if f.temp == nil {
		return
	}
	f.temp.Close()
	os.Remove(f.temp.Name())
	f.temp, f.err = nil, errors.New("the matrix was discarded")
}

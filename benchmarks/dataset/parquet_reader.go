package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// parquetDataset is a dataset in one or more files of Parquet.
type parquetDataset struct {
	name  string
	files []string
}

// openParquet takes a file, or a folder with files in it or in its folder
// "data", in byte order.
func openParquet(place string, _ Options) (refract.Dataset, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, fileError(place, err)
	}
	files := []string{place}
	if info.IsDir() {
		if files, err = parquetFiles(place); err != nil {
			return nil, err
		}
	}
	return newParquet(place, files)
}

// newParquet checks that the files can be read.
func newParquet(name string, files []string) (refract.Dataset, error) {
	for _, path := range files {
		if _, err := newRegular(path); err != nil {
			return nil, err
		}
		f, err := openParquetFile(path)
		if err != nil {
			return nil, err
		}
		f.close()
	}
	return &parquetDataset{name: name, files: files}, nil
}

func parquetFiles(dir string) ([]string, error) {
	for _, sub := range []string{"data", ""} {
		found, err := names(filepath.Join(dir, sub), "", ".parquet")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for i := range found {
			found[i] = filepath.Join(dir, sub, found[i]+".parquet")
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, failFile(dir, "has no Parquet file, nor has its folder data")
}

func (d *parquetDataset) rereadable() bool { return true }

// Segments yields the segments in the order of the rows.
func (d *parquetDataset) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		ids, n := idset.New(), int64(0)
		for _, path := range d.files {
			f, err := openParquetFile(path)
			if err != nil {
				yield(nil, err)
				return
			}
			for s, err := range f.segments(ctx) {
				if err == nil {
					n++
					if first, again := ids.Add(s.ID, n); again {
						err = failAt(s.Pos, 0, "id %s is that of segment %d already; ids must be unique", text.Quote(s.ID), first)
					}
				}
				if !yield(s, err) || err != nil {
					f.close()
					return
				}
			}
			f.close()
		}
		if n == 0 {
			yield(nil, failFile(d.name, "the dataset is empty: no segment at all"))
		}
	}
}

// parquetFile is one open file.
type parquetFile struct {
	path   string
	file   *os.File
	reader *parquet.GenericReader[parquetSegment]
	names  *jsonline.Names
}

func openParquetFile(path string) (*parquetFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	f := &parquetFile{path: path, file: file, names: &jsonline.Names{}}
	if err := f.open(); err != nil {
		file.Close()
		return nil, failFile(path, "%w", err)
	}
	return f, nil
}

func (f *parquetFile) close() {
	f.reader.Close()
	f.file.Close()
}

func (f *parquetFile) open() error {
	return guard(func() error {
		p, err := openParquetIn(f.file)
		if err != nil {
			return err
		}
		if err := checkSchema(p.Schema()); err != nil {
			return err
		}
		f.reader = parquet.NewGenericReader[parquetSegment](p)
		return nil
	})
}

// openParquetIn reads what a file says of its contents. It may panic.
func openParquetIn(file *os.File) (*parquet.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	magic := make([]byte, 4)
	if _, err := file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if string(magic) != "PAR1" {
		return nil, errors.New("not a Parquet file; for JSON Lines write jsonl:FILE")
	}
	p, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(parquetPage))
	if err != nil {
		return nil, fmt.Errorf("the Parquet file is cut off or damaged (%w)", err)
	}
	return p, nil
}

// guard turns a panic of the library, which damaged files can cause, into an
// error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Parquet file is damaged (%v)", p)
		}
	}()
	return f()
}

// checkSchema refuses columns that are not known, since they would be lost,
// and columns of another type.
func checkSchema(got *parquet.Schema) error {
	want := parquet.SchemaOf(parquetSegment{})
	var known []string
	for _, path := range want.Columns() {
		known = append(known, columnName(path))
	}
	for _, path := range got.Columns() {
		name := columnName(path)
		leaf, ok := want.Lookup(path...)
		if !ok {
			hint := didYouMean(name, known)
			if hint == "" {
				hint = "; the columns are those that 'refract publish --to parquet' writes"
			}
			return fmt.Errorf("unknown column %s%s", text.Quote(name), hint)
		}
		have, _ := got.Lookup(path...)
		if h, w := have.Node.Type().Kind(), leaf.Node.Type().Kind(); h != w {
			return fmt.Errorf("column %s is of type %v; want %v", name, h, w)
		}
		if have.MaxRepetitionLevel != leaf.MaxRepetitionLevel {
			return fmt.Errorf("column %s is nested in another way than %s", name, strings.Join(path, "."))
		}
	}
	for _, name := range []string{"id", "references"} {
		path := []string{name}
		if name == "references" {
			path = append(path, "list", "element")
		}
		if _, ok := got.Lookup(path...); !ok {
			return fmt.Errorf("there is no column %s; this is no file of segments", name)
		}
	}
	return nil
}

// columnName is the path of a column without the levels that lists add.
func columnName(path []string) string {
	var parts []string
	for i := 0; i < len(path); i++ {
		parts = append(parts, path[i])
		if i+2 < len(path) && path[i+1] == "list" && path[i+2] == "element" {
			i += 2
		}
	}
	return strings.Join(parts, ".")
}

// segments reads the rows of the file.
func (f *parquetFile) segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		rows := make([]parquetSegment, parquetBatch)
		for line := 0; ; {
			n := 0
			err := guard(func() (err error) {
				clear(rows)
				n, err = f.reader.Read(rows)
				return err
			})
			if err != nil && err != io.EOF {
				yield(nil, failAt(refract.Position{File: f.path, Line: line + 1}, 0, "the Parquet file is damaged: %w", err))
				return
			}
			for i := range rows[:n] {
				line++
				pos := refract.Position{File: f.path, Line: line}
				s, bad := rows[i].segment(f.names)
				if bad == nil {
					bad = ctx.Err()
				} else {
					bad = &Error{Pos: pos, Err: bad}
				}
				if bad != nil {
					yield(nil, bad)
					return
				}
				s.Pos = pos
				if !yield(s, nil) {
					return
				}
			}
			if err == io.EOF || n == 0 {
				return
			}
		}
	}
}

package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// openParquet takes a file, or a folder with files in it or in its folder
// "data", in byte order.
func openParquet(place string, o Options) (*set, error) {
	files, err := parquetFiles(place)
	if err != nil {
		return nil, err
	}
	return parquetSet(place, files, o)
}

func parquetFiles(place string) ([]string, error) {
	info, err := os.Stat(place)
	if err != nil {
		return nil, fileError(place, err)
	}
	if !info.IsDir() {
		return []string{place}, nil
	}
	for _, sub := range []string{"data", ""} {
		found, err := names(filepath.Join(place, sub), "", ".parquet")
		if err != nil {
			return nil, err
		}
		for i := range found {
			found[i] = filepath.Join(place, sub, found[i]+".parquet")
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, failFile(place, "has no Parquet file, nor has its folder data")
}

// parquetSet is a dataset in files of Parquet, which it opens once to check
// them.
func parquetSet(name string, files []string, o Options) (*set, error) {
	rows := 0 // of all files
	for _, path := range files {
		if _, err := newRegular(path); err != nil {
			return nil, err
		}
		err := withParquet(path, checkSchema, func(p *parquet.File) error {
			rows += int(p.NumRows())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &set{n: rows, read: checked(name, "segment", o, func(_ context.Context, each func(*refract.Segment) error) error {
		for _, path := range files {
			if err := withParquet(path, checkSchema, func(p *parquet.File) error { return eachSegment(p, path, each) }); err != nil {
				return err
			}
		}
		return nil
	})}, nil
}

func eachSegment(p *parquet.File, path string, each func(*refract.Segment) error) error {
	var r *segmentReader
	err := guard(func() error {
		r = newSegmentReader(p)
		return nil
	})
	if err != nil {
		return failFile(path, "%w", err)
	}
	defer r.reader.Close()
	for i := range int(p.NumRows()) {
		s := &refract.Segment{Pos: refract.Position{File: path, Line: i + 1}}
		if err := guard(func() error { return r.next(s) }); err != nil {
			return &Error{Pos: s.Pos, Err: err}
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return nil
}

// withParquet opens a file, and calls read once check has nothing against it.
func withParquet(path string, check, read func(p *parquet.File) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fileError(path, err)
	}
	defer file.Close()
	var p *parquet.File
	err = guard(func() (err error) {
		if p, err = openParquetIn(file); err == nil {
			err = check(p)
		}
		return err
	})
	if err != nil {
		return placed(err, refract.Position{File: path})
	}
	return read(p)
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
func checkSchema(p *parquet.File) error {
	got := p.Schema()
	want := parquet.SchemaOf(record{})
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
	for _, path := range [][]string{{"id"}, {"references", "list", "element"}} {
		if _, ok := got.Lookup(path...); !ok {
			return fmt.Errorf("there is no column %s; this is no file of segments", path[0])
		}
	}
	return nil
}

// segmentReader reads rows in our own schema.
type segmentReader struct {
	reader *parquet.GenericReader[record]
	rows   [parquetBatch]record
	ahead  []record        // of rows
	absent map[string]bool // columns that the file lacks
}

func newSegmentReader(p *parquet.File) *segmentReader {
	absent := make(map[string]bool)
	for _, path := range parquet.SchemaOf(record{}).Columns() {
		if _, ok := p.Schema().Lookup(path...); !ok {
			absent[columnName(path)] = true
		}
	}
	return &segmentReader{reader: parquet.NewGenericReader[record](p), absent: absent}
}

// takeAbsent makes missing what the library fills with zeros where a file has
// variants, and lacks one of their columns.
func (r *segmentReader) takeAbsent(row *record) {
	take := func(field string, variants []variantRecord) {
		for i := range variants {
			v := &variants[i]
			if r.absent[field+".text"] {
				v.Text = nil
			}
			if r.absent[field+".doubt"] {
				v.Doubt = nil
			}
			if r.absent[field+".raw"] {
				v.Raw = nil
			}
			if r.absent[field+".cleaned"] {
				v.Cleaned = nil
			}
		}
	}
	take("variants", row.Variants)
	take("rejected", row.Rejected)
}

func (r *segmentReader) next(s *refract.Segment) error {
	if len(r.ahead) == 0 {
		clear(r.rows[:])
		n, err := r.reader.Read(r.rows[:])
		if n == 0 {
			return fmt.Errorf("the Parquet file is damaged: %w", cmp.Or(err, io.ErrUnexpectedEOF))
		}
		r.ahead = r.rows[:n]
	}
	row := &r.ahead[0]
	r.ahead = r.ahead[1:]
	if len(r.absent) > 0 {
		r.takeAbsent(row)
	}
	pos := s.Pos
	read, err := row.segment(false)
	if err == nil {
		err = cmp.Or(checkVariants(read), checkUTF8(read))
	}
	if err == nil {
		*s = *read
		s.Pos = pos
	}
	return err
}

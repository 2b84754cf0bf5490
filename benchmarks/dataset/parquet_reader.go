package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// openParquet opens a file, or the files in a folder or its subfolder "data", in byte
// order.
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
	arrow, _ := names(place, "", ".arrow")
	part := ""
	if _, err := os.Stat(filepath.Join(place, "dataset_dict.json")); err == nil {
		part = "['test']"
	}
	if len(arrow) > 0 || part != "" {
		return nil, failFile(place, "is a folder of save_to_disk; write it as Parquet: python -c \"from datasets import load_from_disk; load_from_disk('%s')%s.to_parquet('%[1]s.parquet')\"", place, part)
	}
	return nil, failFile(place, "has no Parquet file, nor has its folder data")
}

// parquetSet is a dataset in Parquet files, which are opened once to check them.
func parquetSet(name string, files []string, o Options) (*set, error) {
	return inGroups(files, checkSchema, func(span groupSpan, skimmed bool) reading {
		return checked(name, "segment", o, func(ctx context.Context, each func(*refract.Segment) error) error {
			return eachFile(files, span, checkSchema, func(g groups) error { return eachSegment(ctx, g, skimmed, each) })
		})
	})
}

func eachSegment(ctx context.Context, g groups, skimmed bool, each func(*refract.Segment) error) error {
	columns, has := parquet.Group{}, map[string]bool{} // has are columns with values, and first steps of their paths
	for _, f := range g.file.Schema().Fields() {
		if !skimmed || slices.Contains([]string{"id", "source", "language", "references", "variants"}, f.Name()) {
			columns[f.Name()] = f
		}
	}
	schema := parquet.NewSchema("segments", columns)
	for _, path := range schema.Columns() {
		if leaf, ok := schema.Lookup(path...); ok && !empty(leaf.Node) {
			has[columnName(path)], has[path[0]] = true, true
		}
	}
	variants, rejected := presentIn("variants", has), presentIn("rejected", has)
	return eachRow(ctx, g, schema, func(row *record, pos refract.Position) (*refract.Segment, error) {
		row.Variants, row.Rejected = variants(row.Variants), rejected(row.Rejected)
		s, err := row.segment(false)
		if err == nil {
			err = checkVariants(s)
		}
		if err != nil {
			return nil, placed(err, pos)
		}
		s.Pos = pos
		return s, nil
	}, each)
}

// checkDictionary verifies the checksum of a column's dictionary, if it has one. The library
// verifies other pages only.
func checkDictionary(file io.ReaderAt, m *format.ColumnMetaData) error {
	if m.DictionaryPageOffset <= 0 {
		return nil
	}
	in := bufio.NewReader(io.NewSectionReader(file, m.DictionaryPageOffset, m.TotalCompressedSize))
	var header format.PageHeader
	err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(in)).Decode(&header)
	sum := crc32.NewIEEE()
	if err == nil && header.CRC != 0 {
		_, err = io.CopyN(sum, in, int64(header.CompressedPageSize))
	}
	if err == nil && header.CRC != 0 && sum.Sum32() != uint32(header.CRC) {
		err = errors.New("its checksum is another")
	}
	if err != nil {
		return fmt.Errorf("the Parquet file is damaged: the dictionary of column %s: %w", strings.Join(m.PathInSchema, "."), err)
	}
	return nil
}

// withParquet opens a file and calls read if check finds no error.
func withParquet(path string, check func(p *parquet.File, path string) error, read func(p *parquet.File) error) error {
	if _, err := newRegular(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fileError(path, err)
	}
	defer file.Close()
	var p *parquet.File
	err = guard(func() (err error) {
		if p, err = openParquetIn(file); err == nil {
			err = check(p, path)
		}
		return err
	})
	if err != nil {
		return placed(err, refract.Position{File: path})
	}
	return read(p)
}

// openParquetIn reads a file's metadata. It may panic.
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
	names, listed, rows := columnNames(p.Schema()), map[string]bool{}, int64(0)
	for i, path := range p.Schema().Columns() {
		if _, again := listed[names[i]]; again {
			return nil, fmt.Errorf("two columns are named %s", text.Quote(names[i]))
		}
		leaf, _ := p.Schema().Lookup(path...)
		listed[names[i]] = leaf.MaxRepetitionLevel > 0
	}
	for _, e := range p.Metadata().Schema {
		switch {
		case uint32(e.RepetitionType.V) > uint32(format.Repeated):
			return nil, fmt.Errorf("the Parquet file is damaged: column %s is neither required, optional nor repeated", text.Quote(e.Name))
		case e.LogicalType.String() == new(format.Float16Type).String():
			return nil, fmt.Errorf("column %s is of type FLOAT16, which is not read; write it as FLOAT", text.Quote(e.Name))
		}
	}
	for _, group := range p.Metadata().RowGroups {
		rows += group.NumRows
		for i, column := range group.Columns {
			if n := column.MetaData.NumValues; n != group.NumRows && !listed[names[i]] {
				return nil, fmt.Errorf("the Parquet file is damaged: a row group has %s, and column %s %d", english.Count(int(group.NumRows), "row"), names[i], n)
			}
			if codec := column.MetaData.Codec; codec == format.Lz4Raw {
				return nil, errors.New("the file is compressed with LZ4, which cannot be read reliably; write it with zstd or snappy")
			}
			// The library unpacks a whole page, and reads all lists of a row, before any bound on
			// texts applies. An element of a list takes 16 bytes even if it is empty.
			m := &column.MetaData
			if err := checkDictionary(file, m); err != nil {
				return nil, err
			}
			size := max(m.TotalUncompressedSize, 16*(m.NumValues-group.NumRows))
			if size > maxLine+m.NumValues*refract.DefaultMaxText || files.TooLarge(size, info.Size()) {
				return nil, fmt.Errorf("column %s unpacks to %d MiB for %s, which no texts of segments have", strings.Join(m.PathInSchema, "."), size>>20, english.Count(int(m.NumValues), "value"))
			}
		}
	}
	if rows != p.NumRows() {
		return nil, fmt.Errorf("the Parquet file is damaged: it states %d rows, and its row groups %d", p.NumRows(), rows)
	}
	return p, nil
}

// guard turns a panic of the library, which damaged files can cause, into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Parquet file is damaged (%v)", p)
		}
	}()
	return f()
}

// checkSchema refuses unknown columns, since they would be lost, and columns of the wrong
// type.
func checkSchema(p *parquet.File, file string) error {
	got := p.Schema()
	other := func() string { return "; read a file with other columns as " + suggestTable(file, columnNames(got)) }
	want := parquet.SchemaOf(record{})
	for _, path := range got.Columns() {
		name := columnName(path)
		have, _ := got.Lookup(path...)
		leaf, ok := want.Lookup(path...)
		if empty(have.Node) || !ok && (formerly[name] || strings.HasPrefix(name, "__index_level_")) {
			continue
		}
		if !ok {
			hint := didYouMean(name, columnNames(want))
			if _, ours := got.Lookup("references", "list", "element"); hint == "" || !ours {
				hint += other()
			}
			return fmt.Errorf("unknown column %s%s", text.Quote(name), hint)
		}
		h, w := have.Node.Type().Kind(), leaf.Node.Type().Kind()
		wide := h == parquet.Int64 && w == parquet.Int32 // pandas writes all integers this way
		if h != w && !(wide && narrow(p, have.ColumnIndex)) {
			hint := ""
			if len(path) == 1 {
				hint = other()
			}
			return fmt.Errorf("column %s is of type %v; want %v%s", name, h, w, hint)
		}
		if have.MaxRepetitionLevel != leaf.MaxRepetitionLevel {
			return fmt.Errorf("column %s is nested differently from %s", name, strings.Join(path, "."))
		}
	}
	for _, path := range [][]string{{"id"}, {"references", "list", "element"}} {
		if _, ok := got.Lookup(path...); !ok {
			return fmt.Errorf("there is no column %s%s", path[0], other())
		}
	}
	return nil
}

// formerly lists columns that earlier versions wrote and that nothing reads.
var formerly = map[string]bool{"variants.doubt": true, "rejected.doubt": true, "variants.audited_by": true, "rejected.audited_by": true}

// empty reports whether a column has only nulls, or lists of nulls, as pandas and Polars
// write columns without values.
func empty(node parquet.Node) bool {
	logical := node.Type().LogicalType()
	if logical == nil {
		return false
	}
	_, is := logical.Value.(*format.NullType)
	return is
}

// narrow reports whether all numbers of a column fit into 32 bits.
func narrow(p *parquet.File, column int) bool {
	for g, group := range p.RowGroups() {
		chunk, ok := group.ColumnChunks()[column].(*parquet.FileColumnChunk)
		if !ok {
			return false
		}
		least, most, known := chunk.Bounds()
		missing := p.Metadata().RowGroups[g].Columns[column].MetaData.Statistics.NullCount
		if known && (least.Int64() < math.MinInt32 || most.Int64() > math.MaxInt32) || !known && chunk.NumValues() > missing {
			return false
		}
	}
	return true
}

// presentIn returns what makes fields of variants missing whose columns a file lacks or has without
// values, which the library fills with zeros.
func presentIn(field string, has map[string]bool) func([]variantRecord) []variantRecord {
	var absent []int
	for f := range reflect.TypeFor[variantRecord]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("parquet"), ","); !has[field+"."+name] {
			absent = append(absent, f.Index[0])
		}
	}
	return func(variants []variantRecord) []variantRecord {
		if !has[field] {
			return nil
		}
		for i := range variants {
			row := reflect.ValueOf(&variants[i]).Elem()
			for _, f := range absent {
				row.Field(f).SetZero()
			}
		}
		return variants
	}
}

package dataset

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/files"
)

// groups are row groups of a file, from one to another.
type groups struct {
	file     *parquet.File
	path     string
	from, to int
}

// rowReader reads rows of row groups. While a page of a column is read, a goroutine unpacks the
// next one, which may be of the group after.
type rowReader struct {
	groups
	columns parquet.Conversion // from all columns
	opened  []openedGroup
	line    int // of the next row
	given   int64
}

// openedGroup is a row group whose pages are unpacked.
type openedGroup struct {
	parquet.RowReadSeekCloser
	left int64 // rows
	most int64 // rows to be read at a time
}

// guardedColumn makes errors of panics, which nothing else would catch in those goroutines.
type guardedColumn struct{ parquet.ColumnChunk }

func (c guardedColumn) Pages() parquet.Pages { return guardedPages{c.ColumnChunk.Pages()} }

type guardedPages struct{ parquet.Pages }

func (p guardedPages) ReadPage() (page parquet.Page, err error) {
	err = guard(func() (err error) {
		page, err = p.Pages.ReadPage()
		return err
	})
	return page, err
}

// ahead opens a group and the next. It may panic.
func (r *rowReader) ahead() error {
	for ; r.from < r.to && len(r.opened) < 2; r.from++ {
		group, size := r.file.RowGroups()[r.from], r.file.Metadata().RowGroups[r.from].TotalByteSize
		n := group.NumRows()
		if n == 0 {
			continue
		}
		var columns []parquet.ColumnChunk
		for _, c := range parquet.ConvertRowGroup(group, r.columns).ColumnChunks() {
			columns = append(columns, parquet.AsyncColumnChunk(guardedColumn{c}))
		}
		rows := parquet.NewColumnChunkRowReader(columns)
		r.opened = append(r.opened, openedGroup{rows, n, max(1, min(parquetBatch, chunkSize/(size/n+1)))})
		if err := rows.SeekToRow(0); err != nil { // begins to unpack
			return err
		}
	}
	return nil
}

// read appends rows, whose texts are those of pages. It may panic.
func (r *rowReader) read(to []parquet.Row) ([]parquet.Row, error) {
	if err := r.ahead(); err != nil {
		return to, err
	}
	if len(r.opened) == 0 {
		return to, io.EOF
	}
	g, have := &r.opened[0], len(to)
	n := int(min(g.left, g.most))
	to = slices.Grow(to, n)[:have+n]
	n, err := g.ReadRows(to[have:])
	if n == 0 || err != nil && int64(n) < g.left {
		return to[:have], fmt.Errorf("the Parquet file is damaged: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	if g.left -= int64(n); g.left == 0 {
		g.Close()
		r.opened = r.opened[1:]
	}
	return to[:have+n], nil
}

// add adds rows to a chunk.
func (r *rowReader) add(_ context.Context, c *chunk[parquet.Row]) error {
	have, pos := len(c.items), refract.Position{File: r.path, Line: r.line}
	err := guard(func() (err error) {
		c.items, err = r.read(c.items)
		return err
	})
	rows := c.items[have:]
	c.items = c.items[:have]
	if err != nil && err != io.EOF {
		err = placed(err, pos)
	}
	for _, row := range rows {
		size := sizeOf(row)
		pos.Line = r.line
		r.given += int64(size)
		switch {
		case size > maxLine:
			return failAt(pos, 0, "the row has %d MiB of text, more than the %d MiB that a segment may take", size>>20, maxLine>>20)
		case files.TooLarge(r.given, r.file.Size()):
			return failAt(pos, 0, "up to here the texts take hundreds of times as much room as the file, as if it were made to fill the memory; if that is right, store them as JSON Lines")
		}
		c.add(row, r.line, size)
		r.line++
	}
	return err
}

// eachRow reads columns of row groups, and calls each with what the rows are decoded to. decode
// runs on all cores.
func eachRow[T, R any](ctx context.Context, g groups, columns *parquet.Schema, decode func(row *T, pos refract.Position) (R, error), each func(R) error) error {
	r, to := &rowReader{groups: g, line: 1}, columns
	for _, before := range g.file.RowGroups()[:g.from] {
		r.line += int(before.NumRows())
	}
	defer func() {
		for _, group := range r.opened {
			group.Close()
		}
	}()
	var typed parquet.Conversion
	err := guard(func() (err error) {
		var row T
		if any(row) != nil {
			to = parquet.SchemaOf(row)
		}
		if r.columns, err = parquet.Convert(columns, g.file.Schema()); err == nil {
			typed, err = parquet.Convert(to, columns)
		}
		return err
	})
	if err != nil {
		return failFile(g.path, "%w", err)
	}
	decodeOne := func(c *chunk[parquet.Row], i int) (item R, err error) {
		var row T
		pos := refract.Position{File: g.path, Line: c.numbers[i]}
		err = guard(func() error {
			if _, err := typed.Convert(c.items[i : i+1]); err != nil {
				return err
			}
			return to.Reconstruct(&row, c.items[i])
		})
		if err != nil {
			return item, placed(err, pos)
		}
		return decode(&row, pos)
	}
	return inOrder(ctx, r.add, decodeOne, nil, each)
}

// sizeOf returns how many bytes a row takes once its texts are copied: in a page, a few
// bytes can stand for a dictionary's text many times.
func sizeOf(row parquet.Row) (size int) {
	for _, v := range row {
		if size += 16; v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
			size += len(v.ByteArray())
		}
	}
	return size
}

package dataset

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// errFewGroups says that parts cannot be row groups.
var errFewGroups = errors.New("there are fewer row groups than parts")

// groupSpan are row groups of several files, counted as if they were of one, and the rows before
// them; the zero value is all.
type groupSpan struct {
	from, to int
	before   int64
}

// groupStart is where a row group begins, in bytes and rows of all files.
type groupStart struct{ at, row int64 }

// inGroups checks files, and returns a dataset whose parts are their row groups. read reads some
// groups.
func inGroups(paths []string, check func(p *parquet.File, path string) error, read func(span groupSpan, skimmed bool) reading) (*set, error) {
	var starts []groupStart
	var all groupStart
	err := eachFile(paths, groupSpan{}, check, func(g groups) error {
		for k, group := range g.file.RowGroups() {
			starts = append(starts, groupStart{all.at + groupOffset(g.file, k), all.row})
			all.row += group.NumRows()
		}
		all.at += g.file.Size()
		return nil
	})
	if err != nil {
		return nil, err
	}
	starts = append(starts, all)
	ordered := slices.IsSortedFunc(starts, func(a, b groupStart) int { return cmp.Compare(a.at, b.at) })
	end := func(i, n int, size int64) (int64, error) {
		row := share(all.row, i, n)
		switch {
		case len(starts) <= n || !ordered || size != all.at:
			return 0, errFewGroups
		case i == 0 || i == n:
			return size * int64(i/n), nil
		}
		return starts[slices.IndexFunc(starts, func(s groupStart) bool { return s.row >= row })].at, nil
	}
	part := func(of Extent, skimmed bool) *set {
		if of.To == 0 {
			of.To = all.at
		}
		from := func(at int64) int { return slices.IndexFunc(starts, func(s groupStart) bool { return s.at >= at }) }
		span := groupSpan{from: from(of.From), to: from(of.To)}
		span.before = starts[span.from].row
		return &set{n: int(starts[span.to].row - span.before), read: read(span, skimmed)}
	}
	whole := part(Extent{}, false)
	whole.ranges = &ranges{paths, end, part}
	return whole, nil
}

// groupOffset returns where a row group begins in its file. The first has the head of the file too.
func groupOffset(p *parquet.File, k int) int64 {
	if k == 0 {
		return 0
	}
	m := p.Metadata().RowGroups[k].Columns[0].MetaData
	return min(m.DataPageOffset, cmp.Or(m.DictionaryPageOffset, m.DataPageOffset))
}

// eachFile reads the row groups of a span that each file has.
func eachFile(paths []string, span groupSpan, check func(p *parquet.File, path string) error, read func(g groups) error) error {
	if span.to == 0 {
		span.to = math.MaxInt
	}
	for _, path := range paths {
		err := withParquet(path, check, func(p *parquet.File) error {
			n := len(p.RowGroups())
			g := groups{p, path, min(max(span.from, 0), n), min(max(span.to, 0), n)}
			span.from, span.to = span.from-n, span.to-n
			return read(g)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

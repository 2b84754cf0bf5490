package dataset

import (
	"errors"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// errFewGroups says that parts cannot be row groups.
var errFewGroups = errors.New("there are fewer row groups than parts")

// groupStart is where a row group begins, in bytes and rows of all files.
type groupStart struct{ at, row int64 }

// groupStarts checks files, and returns where their row groups begin, and last where all end.
func groupStarts(paths []string, check func(p *parquet.File, path string) error) (starts []groupStart, err error) {
	var end groupStart
	for _, path := range paths {
		if _, err := newRegular(path); err != nil {
			return nil, err
		}
		err := withParquet(path, func(p *parquet.File, path string) error {
			for k, group := range p.RowGroups() {
				starts = append(starts, groupStart{end.at + groupOffset(p, k), end.row})
				end.row += group.NumRows()
			}
			end.at += p.Size()
			return check(p, path)
		}, func(*parquet.File) error { return nil })
		if err != nil {
			return nil, err
		}
	}
	return append(starts, end), nil
}

// groupOffset returns where a row group begins in its file. The first has the head of the file too.
func groupOffset(p *parquet.File, k int) int64 {
	m := p.Metadata().RowGroups[k].Columns[0].MetaData
	switch {
	case k == 0:
		return 0
	case m.DictionaryPageOffset > 0:
		return min(m.DictionaryPageOffset, m.DataPageOffset)
	}
	return m.DataPageOffset
}

// startFrom returns the first row group that begins at a place or after it.
func startFrom(starts []groupStart, at int64) int {
	return slices.IndexFunc(starts, func(s groupStart) bool { return s.at >= at })
}

// inGroups returns a dataset whose parts are row groups of files. read reads a part, which follows
// a number of rows, or all for no Extent.
func inGroups(paths []string, find func() ([]groupStart, error), read func(of Extent, before int64, skimmed bool) reading) *set {
	end := func(i, n int, size int64) (int64, error) {
		starts, err := find()
		if err != nil || i == 0 {
			return 0, err
		}
		for k := range starts[1:] {
			if starts[k].at >= starts[k+1].at { // written in another order
				return 0, errFewGroups
			}
		}
		last := len(starts) - 1
		if last < n {
			return 0, errFewGroups
		}
		if i == n {
			return size, nil
		}
		row := share(starts[last].row, i, n)
		return starts[slices.IndexFunc(starts, func(s groupStart) bool { return s.row >= row })].at, nil
	}
	part := func(of Extent, skimmed bool) *set {
		if of.To == 0 {
			return &set{read: read(of, 0, skimmed)}
		}
		starts, _ := find() // which has told where parts end
		first, end := starts[startFrom(starts, of.From)], starts[startFrom(starts, of.To)]
		return &set{n: int(end.row - first.row), read: read(of, first.row, skimmed)}
	}
	whole := part(Extent{}, false)
	whole.ranges = &ranges{paths, end, part}
	return whole
}

// eachFile reads the row groups of a part that each file has, or all for no Extent.
func eachFile(paths []string, of Extent, check func(p *parquet.File, path string) error, read func(g groups) error) error {
	begin := int64(0)
	for _, path := range paths {
		err := withParquet(path, check, func(p *parquet.File) error {
			g := groups{p, path, 0, len(p.RowGroups())}
			if of.To > 0 {
				for g.from < g.to && begin+groupOffset(p, g.from) < of.From {
					g.from++
				}
				for g.to > g.from && begin+groupOffset(p, g.to-1) >= of.To {
					g.to--
				}
			}
			begin += p.Size()
			return read(g)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

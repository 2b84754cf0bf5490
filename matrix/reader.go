package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/idset"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// source yields the rows of one file.
type source interface {
	// next reads a row into all fields of r, or returns io.EOF. A row that
	// is wrong by itself is an error with its position.
	next(r *Row) error
	// position is that of the last row: a line, or a number of a row.
	position() int64
	// locate is an Error without a cause, at a position or, for 0, the file.
	locate(position int64) Error
}

// faultAt is what is wrong at a position.
func faultAt(s source, position int64, err error) error {
	e := s.locate(position)
	e.Err = err
	return &e
}

// Reader reads a stored matrix, once. It holds one segment at a time, and 16
// bytes for each id. It is not safe for concurrent use.
type Reader struct {
	src    source
	closer io.Closer // nil where there is nothing to close
	known  []*metricState
	ids    *idset.Set
	used   bool
}

func newReader(src source, c io.Closer) *Reader {
	return &Reader{src: src, closer: c, ids: idset.New()}
}

// Open opens a matrix of JSON Lines or Parquet, as the extension .jsonl or
// .parquet says. Of Parquet, it reads and checks the columns; JSON Lines may
// also be a pipe.
func Open(path string) (*Reader, error) {
	format, err := formatOf(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	src, err := format.source(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newReader(src, f), nil
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// Metrics describes the metrics, in the order of the first segment, which is
// also that of SegmentScores.Metrics. It is empty before the first segment is
// read. Whether a metric needs references, and has native scores, may show
// only in a later segment, where the first one has no references.
func (r *Reader) Metrics() []Info {
	infos := make([]Info, len(r.known))
	for i, m := range r.known {
		infos[i] = Info{
			Name: m.name, Direction: m.direction, CellSignature: m.signature,
			NeedsReferences: m.needs == yes,
		}
		if m.nativeAt > 0 {
			infos[i].NativeSignature = func(n int) string { return m.natives[n] }
		}
	}
	return infos
}

// Segments yields the segments in the file's order, and ends after the first
// error. They belong to the caller. It can be called once.
//
// A Segment has its id, its place in the file, its systems in the order of
// their first rows, and its references, all without text: a hypothesis is
// Valid unless all its rows say "missing-hypothesis", and a reference is
// Valid unless rows say "missing-reference" and none has a score for it.
// Values of cells that are not Scored are 0.
//
// Errors are those of ctx, and *Error with the line or row for what is wrong
// in the file: among others a row that cannot be read, a score without
// status "scored" or the other way round, a cell that is there twice or not
// at all, rows of a segment that do not stand together, and a metric that
// changes its direction, its signature or its need of references, or that
// some segments have and others lack.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[*refract.SegmentScores, error] {
	return func(yield func(*refract.SegmentScores, error) bool) {
		if r.used {
			yield(nil, faultAt(r.src, 0, errors.New("the matrix was read already; open it again")))
			return
		}
		r.used = true
		if err := r.read(ctx, func(s *refract.SegmentScores) bool { return yield(s, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// checkEvery is how many rows are read between looks at the context.
const checkEvery = 256

// read calls yield with each segment until that returns false.
func (r *Reader) read(ctx context.Context, yield func(*refract.SegmentScores) bool) error {
	var row Row
	var g *group
	for n := 0; ; n++ {
		if n%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		err := r.src.next(&row)
		if err != nil && err != io.EOF {
			return err
		}
		at := r.src.position()
		if g != nil && (err == io.EOF || row.ID != g.id) {
			s, bad := g.finish()
			if bad != nil {
				return faultAt(r.src, g.first, fmt.Errorf("segment %s: %w", text.Quote(g.id), bad))
			}
			first := r.src.locate(g.first)
			s.Segment.Pos = refract.Position{File: first.File, Line: int(first.Line)}
			r.known = g.known
			if !yield(s) {
				return nil
			}
			g = nil
		}
		if err == io.EOF {
			if r.known == nil {
				return faultAt(r.src, 0, errors.New("the matrix is empty: no row at all; score again to write it"))
			}
			return nil
		}
		if g == nil {
			if before, again := r.ids.Add(row.ID, at); again {
				return faultAt(r.src, at, fmt.Errorf("segment %s has rows from row %d on already; the rows of a segment must stand together", text.Quote(row.ID), before))
			}
			g = newGroup(row.ID, at, r.known)
		}
		if err := g.add(&row, at); err != nil {
			return faultAt(r.src, at, fmt.Errorf("segment %s, system %s, %s: %w", text.Quote(row.ID), text.Quote(row.System), text.Brief(row.Metric), err))
		}
	}
}

// need says whether a metric needs references, as far as rows tell.
type need uint8

const (
	unknown need = iota
	yes
	no
)

// metricState is what the rows so far say of a metric, over all segments.
type metricState struct {
	name      string
	direction metrics.Direction
	signature string // of cells
	cellAt    int64  // position of the first cell, or 0
	needs     need
	natives   map[int]string // signature by number of references
	nativeAt  int64          // position of the first native row, or 0
	// withoutNative is the position of the first segment with scored cells
	// and no native rows, or 0.
	withoutNative int64
}

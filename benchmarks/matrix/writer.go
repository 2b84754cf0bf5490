package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Info is what a matrix stores about a metric in addition to its scores.
type Info struct {
	Name      string // canonical
	Direction metrics.Direction
	// NeedsReferences says that the metric has a column per reference, not a single
	// column.
	NeedsReferences bool
	CellSignature   string
	// NativeSignature returns the signature of a native score against n references; it is
	// nil for a metric without native scores. In an Info from a Reader it knows the numbers
	// read so far, and returns "" for others.
	NativeSignature func(n int) string
}

// HasNative reports whether the metric has native scores.
func (i Info) HasNative() bool { return i.NativeSignature != nil }

// encoder writes the rows of one format.
type encoder interface {
	// row writes a row; line is its encoding in JSON Lines.
	row(r *row, line []byte) error
	// end writes what is buffered, and the digest.
	end(digest string) error
}

// Writer writes a matrix. It is not safe for concurrent use. After any error,
// WriteSegment and Close return that error.
type Writer struct {
	to   encoder
	rows int64
	line []byte
	sum  hash.Hash
	err  error
}

func newWriter(to encoder) *Writer { return &Writer{to: to, sum: sha256.New()} }

// NewJSONLWriter returns a Writer of JSON Lines: UTF-8, one object per line, all columns in
// order.
func NewJSONLWriter(w io.Writer) *Writer { return newWriter(newJSONLEncoder(w)) }

// NewParquetWriter returns a Writer of Parquet, compressed with Zstandard, in
// row groups of 16,384 rows.
func NewParquetWriter(w io.Writer) *Writer { return newWriter(newParquetEncoder(w)) }

// WriteSegment writes the rows of one segment: for each metric, in the order of infos, the
// cells by hypothesis and reference, and then native scores, if any, by hypothesis. Statistics
// are not written.
//
// It returns an error for a segment without hypotheses, which would have no row and be lost, for
// rows that no reader would accept, and if writing fails.
func (w *Writer) WriteSegment(s *refract.SegmentScores, infos []Info) error {
	if w.err != nil {
		return w.err
	}
	if w.err = w.segment(s, infos); w.err != nil {
		w.err = fmt.Errorf("segment %s: %w", text.Quote(s.Segment.ID), w.err)
	}
	return w.err
}

func (w *Writer) segment(s *refract.SegmentScores, infos []Info) error {
	seg := s.Segment
	if len(seg.Hypotheses) == 0 {
		return errors.New("it has no hypotheses, and so no cell to write; take it out of the matrix")
	}
	var outputs, references []string
	for _, h := range seg.Hypotheses {
		outputs = append(outputs, hashOf(h.Text))
	}
	present := 0
	for _, t := range seg.AllReferences(nil) {
		references = append(references, hashOf(t))
		if t.Valid {
			present++
		}
	}
	for k, info := range infos {
		m := &s.Metrics[k]
		columns, against := 1, present
		if !info.NeedsReferences {
			against = 0
		} else if len(references) > 0 {
			columns = len(references)
		}
		r := row{ID: seg.ID, Metric: info.Name, Direction: info.Direction.String(), Signature: info.CellSignature}
		for i, v := range m.Values {
			r.System, r.Output = seg.Hypotheses[i/columns].System, outputs[i/columns]
			if info.NeedsReferences && len(references) > 0 {
				column := int32(i % columns)
				r.Reference, r.References, r.Against = &column, 1, references[column]
			}
			if err := w.write(&r, v, m.Status[i]); err != nil {
				return err
			}
		}
		for h, v := range m.Native {
			if h == 0 {
				r.Aggregate, r.Reference, r.References, r.Against, r.Signature = Native, nil, int32(against), "", info.NativeSignature(against)
			}
			r.System, r.Output = seg.Hypotheses[h].System, outputs[h]
			if err := w.write(&r, v, m.NativeStatus[h]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes a row with a score.
func (w *Writer) write(r *row, score float64, status metrics.Status) error {
	r.Status, r.Score = status.String(), nil
	if status == metrics.Scored {
		r.Score = &score
	}
	return w.writeRow(r)
}

func (w *Writer) writeRow(r *row) error {
	w.rows++
	if err := r.check(); err != nil {
		return fmt.Errorf("row %d: %w", w.rows, err)
	}
	w.line = r.appendLine(w.line[:0])
	w.sum.Write(w.line)
	return w.to.row(r, w.line)
}

// Close writes what is buffered and the digest; without it the matrix is incomplete. It does
// not close the underlying writer.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.to.end(hex.EncodeToString(w.sum.Sum(nil)))
	}
	return w.err
}

// Copy copies the rows of a matrix in JSON Lines, which may have none. Errors call the input
// name.
func (w *Writer) Copy(ctx context.Context, in io.Reader, name string) error {
	src, sum := newJSONLSource(in, name), sha256.New()
	var now row
	var line []byte
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := src.next(&now)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line = src.line(line[:0], &now)
		sum.Write(line)
		if w.err = w.writeRow(&now); w.err != nil {
			return w.err
		}
	}
	if src.digest() != hex.EncodeToString(sum.Sum(nil)) {
		return errors.New(name + ": the digest of the matrix is missing or does not match its rows")
	}
	return nil
}

// Rows returns the number of rows written.
func (w *Writer) Rows() int64 { return w.rows }

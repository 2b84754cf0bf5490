package matrix

import (
	"fmt"
	"io"
	"strconv"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics"
)

// flushSize is how many bytes a writer of JSON Lines gathers.
const flushSize = 64 << 10

// NewJSONLWriter returns a Writer of JSON Lines: UTF-8, one object a line,
// all columns in order.
func NewJSONLWriter(w io.Writer) Writer {
	return &jsonlWriter{w: w, buf: make([]byte, 0, flushSize+flushSize/4)}
}

type jsonlWriter struct {
	w      io.Writer
	buf    []byte
	rows   int64
	err    error
	closed bool
}

func (w *jsonlWriter) Write(r *Row) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return errClosed
	}
	w.rows++
	if err := r.checkText(); err != nil {
		w.err = fmt.Errorf("row %d: %w", w.rows, err)
		return w.err
	}
	w.buf = appendRow(w.buf, r)
	if len(w.buf) >= flushSize {
		return w.flush()
	}
	return nil
}

func (w *jsonlWriter) flush() error {
	_, w.err = w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

func (w *jsonlWriter) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	return w.flush()
}

// appendRow appends the line of a row that was checked.
func appendRow(b []byte, r *Row) []byte {
	b = jsonline.AppendString(append(b, `{"id":`...), r.ID)
	b = jsonline.AppendString(append(b, `,"system":`...), r.System)
	b = jsonline.AppendString(append(b, `,"metric":`...), r.Metric)
	if r.Aggregate == "" {
		b = append(b, `,"aggregate":null`...)
	} else {
		b = jsonline.AppendString(append(b, `,"aggregate":`...), r.Aggregate)
	}
	if r.Reference == NoReference {
		b = append(b, `,"reference":null`...)
	} else {
		b = strconv.AppendInt(append(b, `,"reference":`...), int64(r.Reference), 10)
	}
	b = strconv.AppendInt(append(b, `,"references":`...), int64(r.References), 10)
	if r.Status == metrics.Scored {
		b = jsonline.AppendFloat(append(b, `,"score":`...), r.Score)
	} else {
		b = append(b, `,"score":null`...)
	}
	b = append(append(b, `,"status":"`...), r.Status.String()...)
	b = append(append(b, `","direction":"`...), r.Direction.String()...)
	b = jsonline.AppendString(append(b, `","signature":`...), r.Signature)
	return append(b, '}', '\n')
}

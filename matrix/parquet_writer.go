package matrix

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract/metrics"
)

const (
	// parquetBatch is how many rows go to the library at a time.
	parquetBatch = 1 << 10
	// parquetGroup is how many rows a row group has, and so how many a writer
	// holds in memory, encoded.
	parquetGroup = 1 << 14
)

// parquetRow is the schema. Pointers are columns that may be null.
type parquetRow struct {
	ID         string   `parquet:"id,dict"`
	System     string   `parquet:"system,dict"`
	Metric     string   `parquet:"metric,dict"`
	Aggregate  *string  `parquet:"aggregate,dict"`
	Reference  *int32   `parquet:"reference"`
	References int32    `parquet:"references"`
	Score      *float64 `parquet:"score"`
	Status     string   `parquet:"status,dict"`
	Direction  string   `parquet:"direction,dict"`
	Signature  string   `parquet:"signature,dict"`
}

// NewParquetWriter returns a Writer of Parquet, compressed with Zstandard, in
// row groups of 16,384 rows. The file is complete only after Close.
func NewParquetWriter(w io.Writer) Writer {
	return &parquetWriter{
		w: parquet.NewGenericWriter[parquetRow](w,
			parquet.Compression(&parquet.Zstd),
			parquet.MaxRowsPerRowGroup(parquetGroup),
			// A fixed name in place of the library's version: the same rows
			// are the same bytes.
			parquet.CreatedBy("refract", "1", "0"),
		),
		native: Native,
		rows:   make([]parquetRow, 0, parquetBatch),
		refs:   make([]int32, parquetBatch),
		scores: make([]float64, parquetBatch),
	}
}

type parquetWriter struct {
	w      *parquet.GenericWriter[parquetRow]
	native string
	rows   []parquetRow // refs and scores have what their pointers point to
	refs   []int32
	scores []float64
	count  int64
	err    error
	closed bool
}

func (w *parquetWriter) Write(r *Row) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return errClosed
	}
	w.count++
	if err := r.checkText(); err != nil {
		w.err = fmt.Errorf("row %d: %w", w.count, err)
		return w.err
	}
	row := parquetRow{
		ID: r.ID, System: r.System, Metric: r.Metric, References: int32(r.References),
		Status: r.Status.String(), Direction: r.Direction.String(), Signature: r.Signature,
	}
	i := len(w.rows)
	if r.Aggregate != "" {
		row.Aggregate = &w.native
	}
	if r.Reference != NoReference {
		w.refs[i] = int32(r.Reference)
		row.Reference = &w.refs[i]
	}
	if r.Status == metrics.Scored {
		w.scores[i] = r.Score
		row.Score = &w.scores[i]
	}
	if w.rows = append(w.rows, row); len(w.rows) == parquetBatch {
		return w.flush()
	}
	return nil
}

func (w *parquetWriter) flush() error {
	_, w.err = w.w.Write(w.rows)
	w.rows = w.rows[:0]
	return w.err
}

func (w *parquetWriter) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	if err := w.flush(); err != nil {
		return err
	}
	w.err = w.w.Close()
	return w.err
}

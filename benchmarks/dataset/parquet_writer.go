package dataset

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

const (
	// parquetBatch is the number of rows passed to the library at a time.
	parquetBatch = 64
	// parquetGroup is how many bytes of texts a row group has, and as much again of other
	// columns. A writer holds one in memory, compressed.
	parquetGroup = 8 << 20
	// parquetPage is the size of a column's page in bytes: a writer and a reader hold a page
	// for each of forty columns.
	parquetPage = 64 << 10
)

// ParquetEncoder writes segments as Parquet: their ids, sources, references, variants,
// rejected variants, documents, domains and languages, but no hypotheses or judgements. The columns
// load as a Hugging Face dataset. Reading them back gives the same, including the origin of
// every variant.
type ParquetEncoder struct {
	w      *parquet.GenericWriter[record]
	rows   [parquetBatch]record
	n      int // of rows in use
	size   int // of the texts in the row group, in bytes
	err    error
	closed bool
}

// NewParquetEncoder returns a ParquetEncoder, which holds about 32 MB of segments at a
// time. The file is complete only after Close.
func NewParquetEncoder(w io.Writer) *ParquetEncoder {
	return &ParquetEncoder{
		// The name is the same in all files.
		w: parquet.NewGenericWriter[record](w, parquet.NewSchema("parquetSegment", parquet.SchemaOf(record{})),
			parquet.Compression(&parquet.Zstd),
			parquet.PageBufferSize(parquetPage),
			// A fixed name instead of the library's version, so that equal segments give equal
			// bytes.
			parquet.CreatedBy("refract", "1", "0"),
		),
	}
}

// Encode adds a segment, without keeping a pointer to it. A segment that could not be read
// back is an error; after any error, Encode and Close return that error.
func (e *ParquetEncoder) Encode(s *refract.Segment) error {
	if e.err != nil {
		return e.err
	}
	if e.closed {
		return errors.New("the Parquet file is closed already")
	}
	row := &e.rows[e.n]
	if err := row.fill(s); err != nil {
		e.err = fmt.Errorf("cannot write segment %s: %w", text.Quote(s.ID), err)
		return e.err
	}
	row.Hypotheses, row.Judgements, row.Judged = nil, nil, nil
	e.n++
	for _, t := range s.AllReferences([]refract.Text{s.Source}) {
		e.size += len(t.Value)
	}
	for i := range s.Rejected {
		e.size += len(s.Rejected[i].Text.Value)
	}
	if e.n == parquetBatch || e.size > parquetGroup {
		if e.err = e.flush(); e.err != nil {
			e.err = fmt.Errorf("cannot write segment %s: %w", text.Quote(s.ID), e.err)
		}
	}
	return e.err
}

func (e *ParquetEncoder) flush() error {
	_, err := e.w.Write(e.rows[:e.n])
	e.n = 0
	if err == nil && e.size > parquetGroup {
		e.size = 0
		err = e.w.Flush()
	}
	return err
}

// Close writes what is left, but does not close the underlying writer.
func (e *ParquetEncoder) Close() error {
	if e.closed || e.err != nil {
		return e.err
	}
	e.closed = true
	if e.err = e.flush(); e.err == nil {
		e.err = e.w.Close()
	}
	return e.err
}

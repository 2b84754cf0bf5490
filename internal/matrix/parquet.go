package matrix

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

const (
	parquetMagic = "PAR1"
	// digestKey is that of the digest in the file's metadata.
	digestKey = "sha256"
	// parquetBatch is how many rows go to the library at a time.
	parquetBatch = 1 << 10
	// parquetGroup is how many rows a row group has, and so how many a writer
	// holds in memory, encoded.
	parquetGroup = 1 << 14
)

// parquetRow is the schema. Pointers, and what is optional, are columns that
// may be null.
type parquetRow struct {
	ID         string   `parquet:"id,dict"`
	System     string   `parquet:"system,dict"`
	Metric     string   `parquet:"metric,dict"`
	Aggregate  string   `parquet:"aggregate,dict,optional"`
	Reference  *int32   `parquet:"reference"`
	References int32    `parquet:"references"`
	Score      *float64 `parquet:"score"`
	Status     string   `parquet:"status,dict"`
	Direction  string   `parquet:"direction,dict"`
	Signature  string   `parquet:"signature,dict"`
	Output     string   `parquet:"output_hash,dict,optional"`
	Against    string   `parquet:"reference_hash,dict,optional"`
}

type parquetEncoder struct {
	w      *parquet.GenericWriter[parquetRow]
	rows   []parquetRow // refs and scores have what their pointers point to
	refs   []int32
	scores []float64
}

func newParquetEncoder(w io.Writer) encoder {
	return &parquetEncoder{
		w: parquet.NewGenericWriter[parquetRow](w,
			parquet.Compression(&parquet.Zstd),
			parquet.MaxRowsPerRowGroup(parquetGroup),
			// A fixed name in place of the library's version: the same rows
			// are the same bytes.
			parquet.CreatedBy("refract", "1", "0"),
		),
		rows:   make([]parquetRow, 0, parquetBatch),
		refs:   make([]int32, parquetBatch),
		scores: make([]float64, parquetBatch),
	}
}

func (e *parquetEncoder) row(r *row, _ []byte) error {
	i := len(e.rows)
	e.rows = append(e.rows, parquetRow{
		ID: r.id, System: r.system, Metric: r.metric, Aggregate: r.aggregate, References: int32(r.references),
		Status: r.status.String(), Direction: r.direction.String(), Signature: r.signature, Output: r.output, Against: r.against,
	})
	if r.reference != noReference {
		e.refs[i] = int32(r.reference)
		e.rows[i].Reference = &e.refs[i]
	}
	if r.status == metrics.Scored {
		e.scores[i] = r.score
		e.rows[i].Score = &e.scores[i]
	}
	if len(e.rows) < parquetBatch {
		return nil
	}
	return e.flush()
}

func (e *parquetEncoder) flush() error {
	_, err := e.w.Write(e.rows)
	e.rows = e.rows[:0]
	return err
}

func (e *parquetEncoder) end(digest string) error {
	if err := e.flush(); err != nil {
		return err
	}
	e.w.SetKeyValueMetadata(digestKey, digest)
	return e.w.Close()
}

// parquetSource reads rows of Parquet, one row group after the other.
type parquetSource struct {
	file   string
	sum    string
	groups []parquet.RowGroup
	rows   parquet.Rows // of the group in work, or nil
	buf    []parquet.Row
	have   []parquet.Row // those of buf that are still to come
	row    int64
	names  jsonline.Names
}

func openParquet(f *os.File, name string) (source, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &Error{File: name, Err: errors.New("not a regular file, as Parquet must be; give JSON Lines for a stream")}
	}
	return newParquetSource(f, st.Size(), name)
}

func newParquetSource(r io.ReaderAt, size int64, name string) (source, error) {
	s := &parquetSource{file: name, buf: make([]parquet.Row, 256)}
	if err := s.open(r, size); err != nil {
		return nil, faultAt(s, 0, err)
	}
	return s, nil
}

func (s *parquetSource) open(r io.ReaderAt, size int64) error {
	magic := make([]byte, len(parquetMagic))
	if _, err := r.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	if string(magic) != parquetMagic {
		return &foreignError{errors.New("not a Parquet file; name it .jsonl if it is JSON Lines")}
	}
	var schema string
	err := guard(func() error {
		f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err == nil {
			s.groups, schema = f.RowGroups(), f.Schema().String()
			s.sum, _ = f.Lookup(digestKey)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the Parquet file is cut off or damaged (%w)", err)
	}
	if schema == parquet.SchemaOf(parquetRow{}).String() {
		return nil
	}
	has := func(i int) bool {
		return strings.Contains(schema, " "+columns[i]+" ") || strings.Contains(schema, " "+columns[i]+";")
	}
	for i := range columns {
		if !has(i) {
			return missingColumns(has)
		}
	}
	return &foreignError{errors.New("the columns are of other types, or there are more")}
}

// guard turns a panic of the library, which damaged files can cause, into an
// error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

func (s *parquetSource) locate(row int64) Error { return Error{File: s.file, Row: row} }

func (s *parquetSource) position() int64 { return s.row }

func (s *parquetSource) line(b []byte, r *row) []byte { return r.appendLine(b) }

func (s *parquetSource) digest() string { return s.sum }

func (s *parquetSource) next(r *row) error {
	if len(s.have) == 0 {
		if err := guard(s.fill); err == io.EOF {
			return err
		} else if err != nil {
			return faultAt(s, s.row+1, fmt.Errorf("the Parquet file is damaged (%w)", err))
		}
	}
	values := s.have[0]
	s.have = s.have[1:]
	s.row++
	err := s.decode(values, r)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return faultAt(s, s.row, err)
	}
	return nil
}

// fill reads the next rows, at least one, or returns io.EOF.
func (s *parquetSource) fill() error {
	for {
		if s.rows == nil {
			if len(s.groups) == 0 {
				return io.EOF
			}
			s.rows = s.groups[0].Rows()
			s.groups = s.groups[1:]
		}
		n, err := s.rows.ReadRows(s.buf)
		if err == io.EOF {
			err = s.rows.Close()
			s.rows = nil
		}
		if err != nil {
			return err
		}
		if n > 0 {
			s.have = s.buf[:n]
			return nil
		}
	}
}

// decode reads the values of a row, one per column.
func (s *parquetSource) decode(values parquet.Row, r *row) error {
	if len(values) != numColumns {
		return fmt.Errorf("%d values for %d columns", len(values), numColumns)
	}
	s.names.Line()
	name := func(col int) string { return s.names.Get(values[col].ByteArray()) } // "" of null
	*r = row{
		id: r.id, system: name(colSystem), metric: name(colMetric), aggregate: name(colAggregate),
		reference: noReference, references: int(values[colReferences].Int32()),
		signature: name(colSignature), output: name(colOutput), against: name(colAgainst),
	}
	if id := values[colID].ByteArray(); r.id != string(id) {
		r.id = string(id)
	}
	if v := values[colReference]; !v.IsNull() {
		r.reference = int(v.Int32())
	}
	var err error
	if r.status, err = metrics.ParseStatus(text.Brief(name(colStatus))); err != nil {
		return fmt.Errorf("column status: %w", err)
	}
	if r.direction, err = metrics.ParseDirection(name(colDirection)); err != nil {
		return fmt.Errorf("column direction: %w", err)
	}
	if r.status == metrics.Scored {
		r.score = values[colScore].Double()
	}
	return checkScore(r.status, values[colScore].IsNull())
}

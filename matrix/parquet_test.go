package matrix_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/refract-eval/refract/metrics"
)

// pqRow has the columns that other programs may write: all optional, of 64
// bits.
type pqRow struct {
	ID         *string  `parquet:"id"`
	System     *string  `parquet:"system"`
	Metric     *string  `parquet:"metric"`
	Aggregate  *string  `parquet:"aggregate"`
	Reference  *int64   `parquet:"reference"`
	References *int64   `parquet:"references"`
	Score      *float64 `parquet:"score"`
	Status     *string  `parquet:"status"`
	Direction  *string  `parquet:"direction"`
	Signature  *string  `parquet:"signature"`
}

func parquetOf[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestForeignParquet(t *testing.T) {
	row := func(change func(*pqRow)) pqRow {
		r := pqRow{new("a"), new("A"), new("m"), nil, new(int64(0)), new(int64(1)), new(0.0), new("scored"), new("higher"), new("s")}
		if change != nil {
			change(&r)
		}
		return r
	}
	ok := row(nil)
	m, err := readParquet(parquetOf(t, ok, row(func(r *pqRow) { *r.Reference = 1; r.Score, *r.Status = nil, "failed" })))
	if err != nil {
		t.Fatal(err)
	}
	if ms := m.Segments[0].Metrics[0]; ms.Columns != 2 || ms.Status[0] != metrics.Scored || ms.Status[1] != metrics.Failed {
		t.Errorf("read %+v", ms)
	}
	tests := map[string]func(*pqRow){
		"m.parquet: row 2: column id is null":                                             func(r *pqRow) { r.ID = nil },
		"m.parquet: row 2: column references is null":                                     func(r *pqRow) { r.References = nil },
		"m.parquet: row 2: column score is null, but status is scored":                    func(r *pqRow) { r.Score = nil },
		"m.parquet: row 2: column score has a number, but status is failed":               func(r *pqRow) { r.Status = new("failed") },
		`m.parquet: row 2: column status: unknown status "ok"`:                            func(r *pqRow) { r.Status = new("ok") },
		`m.parquet: row 2: column direction: unknown direction ""`:                        func(r *pqRow) { r.Direction = new("") },
		"m.parquet: row 2: column system: invalid UTF-8":                                  func(r *pqRow) { r.System = new("\xff") },
		"m.parquet: row 2: the score is NaN":                                              func(r *pqRow) { r.Score = new(math.NaN()) },
		"m.parquet: row 2: the score is -Inf":                                             func(r *pqRow) { r.Score = new(math.Inf(-1)) },
		"m.parquet: row 2: column reference: -1 is out of range":                          func(r *pqRow) { r.Reference = new(int64(-1)) },
		"m.parquet: row 2: column references: 4294967297 is out of range":                 func(r *pqRow) { r.References = new(int64(1<<32 + 1)) },
		`m.parquet: row 2: column aggregate: want null`:                                   func(r *pqRow) { r.Aggregate = new("") },
		`m.parquet: row 1: segment "a": m: two cells for system "A", reference 0, in row`: func(*pqRow) {},
	}
	for want, change := range tests {
		if _, err := readParquet(parquetOf(t, ok, row(change))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestForeignSchema(t *testing.T) {
	tests := []struct {
		in   []byte
		want string
	}{
		{parquetOf[pqRow](t), "m.parquet: the matrix is empty"},
		{parquetOf(t, struct {
			ID string `parquet:"id"`
		}{"a"}), "m.parquet: not a score matrix: no column system, metric"},
		{parquetOf(t, struct {
			pqRow
			X int `parquet:"x"`
		}{}), `m.parquet: unknown column "x"`},
		{parquetOf(t, struct {
			Score struct{ X, Y int } `parquet:"score"`
		}{}), `m.parquet: unknown column "score.X"`},
		{parquetOf(t, struct {
			Score float32 `parquet:"score"`
		}{}), "m.parquet: column score is of type FLOAT; want a DOUBLE"},
		{parquetOf(t, struct {
			Reference float64 `parquet:"reference"`
		}{}), "m.parquet: column reference is of type DOUBLE; want an INT32 or INT64"},
		{parquetOf(t, struct {
			ID int64 `parquet:"id"`
		}{}), "m.parquet: column id is of type INT(64,true); want a BYTE_ARRAY"},
		{parquetOf(t, struct {
			ID []string `parquet:"id"`
		}{}), "m.parquet: column id is a list"},
		{nil, "m.parquet: the file is empty"},
		{[]byte(lines(line())), "m.parquet: not a Parquet file; name it .jsonl"},
		{[]byte("PAR1"), "m.parquet: the Parquet file is cut off or damaged"},
	}
	for _, tt := range tests {
		if _, err := readParquet(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

// A cut file is an error. A damaged one is at most an error, and no panic:
// Parquet does not cover all of its bytes with checksums.
func TestDamagedParquet(t *testing.T) {
	b := writeAll(t, sample(), pq)
	for n := 0; n < len(b); n += 13 {
		if _, err := readParquet(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(b))
		}
	}
	flips := []byte{0x01, 0x80, 0xff}
	for i := 0; i < len(b); i += 5 {
		bad := bytes.Clone(b)
		bad[i] ^= flips[i%len(flips)]
		if _, err := readParquet(bad); err != nil && !strings.HasPrefix(err.Error(), "m.parquet: ") {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

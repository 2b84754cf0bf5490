package matrix_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parquetOf[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, parquet.Write(&b, rows))
	return b.Bytes()
}

func TestForeignSchema(t *testing.T) {
	type cell struct {
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
	tests := []struct {
		in   []byte
		want string
	}{
		{parquetOf(t, cell{}), "m.parquet: the columns are not those of a matrix, or have other types; this is not a stored matrix"},
		{parquetOf(t, struct {
			cell
			Output  string `parquet:"output_hash"`
			Against int64  `parquet:"reference_hash"`
		}{}), "m.parquet: the columns are not those"},
		{nil, "m.parquet: not a Parquet file"},
		{[]byte(lines(line())), "m.parquet: not a Parquet file; name it .jsonl"},
		{[]byte("PAR1"), "m.parquet: the Parquet file is cut off or damaged"},
	}
	for _, tt := range tests {
		_, err := readParquet(tt.in)
		assert.ErrorContains(t, err, tt.want)
	}
}

// A cut file is an error. A damaged one is also an error if the damage affects a row, and never
// a panic.
func TestDamagedParquet(t *testing.T) {
	b := writeAll(t, sample(), pq)
	for n := 0; n < len(b); n += 53 {
		_, err := readParquet(b[:n])
		assert.Error(t, err, "%d of %d bytes are accepted", n, len(b))
	}
	flips := []byte{0x01, 0x80, 0xff}
	for i := 0; i < len(b); i += 17 {
		bad := bytes.Clone(b)
		bad[i] ^= flips[i%len(flips)]
		if got, err := readParquet(bad); err != nil && !strings.HasPrefix(err.Error(), "m.parquet:") {
			t.Errorf("byte %d: %v", i, err)
		} else if err == nil {
			same(t, got, sample())
		}
	}
}

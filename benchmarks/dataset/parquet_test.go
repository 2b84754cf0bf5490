package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

func encodeParquet(t rapid.TB, segments ...*refract.Segment) []byte {
	var b bytes.Buffer
	e := NewParquetEncoder(&b)
	for _, s := range segments {
		require.NoError(t, e.Encode(s))
	}
	require.NoError(t, e.Close())
	return b.Bytes()
}

func writeFile(t rapid.TB, path string, b []byte) {
	require.NoError(t, os.WriteFile(path, b, 0o666))
}

// Parquet keeps what JSON Lines keeps, except for hypotheses, judgements and what a judge
// said.
func TestParquetRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.parquet")
	rapid.Check(t, func(t *rapid.T) {
		var want []*refract.Segment
		for i := range rapid.IntRange(1, 3).Draw(t, "segments") {
			want = append(want, drawSegment(t, string(rune('a'+i))))
		}
		b := encodeParquet(t, want...)
		require.True(t, bytes.Equal(encodeParquet(t, want...), b), "the same segments are other bytes")
		writeFile(t, path, b)
		ds, err := Open("parquet:"+path, Options{})
		got, err := openAndCollect(ds, err)
		require.NoError(t, err)
		all, err := Identify(context.Background(), ds)
		require.NoError(t, err)
		skimmed, err := IdentifyParts(context.Background(), ds)
		require.NoError(t, err)
		require.Equal(t, all.Hash(), skimmed.Hash())
		for i, s := range got {
			require.True(t, s.Pos == (refract.Position{File: path, Line: i + 1}), "position %v", s.Pos)
			s.Pos = refract.Position{}
			want[i].Hypotheses, want[i].Judgements, want[i].Judged = nil, nil, nil
		}
		require.Empty(t, cmp.Diff(want, got))
	})
}

func TestParquetShards(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o777))
	segment := func(id string) *refract.Segment { return &refract.Segment{ID: id} }
	writeFile(t, filepath.Join(dir, "data", "test-00001-of-00002.parquet"), encodeParquet(t, segment("c"), segment("d")))
	writeFile(t, filepath.Join(dir, "data", "test-00000-of-00002.parquet"), encodeParquet(t, segment("a"), segment("b")))
	ds, err := Open("parquet:"+dir, Options{})
	got, err := openAndCollect(ds, err)
	require.NoError(t, err)
	for n := range 4 {
		checkParts(t, ds, n+1)
	}
	var ids string
	for _, s := range got {
		ids += s.ID
	}
	assert.Equal(t, "abcd", ids, "segments")
	writeFile(t, filepath.Join(dir, "data", "test-00002-of-00002.parquet"), encodeParquet(t, segment("b")))
	_, err = openAndCollect(Open("parquet:"+dir, Options{}))
	wantError(t, dir, err, filepath.Join("data", "test-00002-of-00002.parquet")+`:1: id "b" is already used by segment 2; ids must be unique`)
}

// rowsOf writes rows of any schema.
func rowsOf[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// unpackingTo returns a file whose metadata state another unpacked size of each column.
func unpackingTo(t *testing.T, size int64, file []byte) []byte {
	t.Helper()
	protocol := new(thrift.CompactProtocol)
	end := len(file) - 8
	begin := end - int(binary.LittleEndian.Uint32(file[end:]))
	var meta format.FileMetaData
	require.NoError(t, thrift.Unmarshal(protocol, file[begin:end], &meta))
	for i := range meta.RowGroups[0].Columns {
		meta.RowGroups[0].Columns[i].MetaData.TotalUncompressedSize = size
	}
	footer, err := thrift.Marshal(protocol, meta)
	require.NoError(t, err)
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return slices.Concat(file[:begin], footer, file[len(file)-4:])
}

func TestParquetErrors(t *testing.T) {
	type smallest struct {
		ID         string   `parquet:"id"`
		References []string `parquet:"references,list"`
	}
	type misspelt struct {
		ID         string   `parquet:"id"`
		References []string `parquet:"references,list"`
		Sourse     string   `parquet:"sourse"`
	}
	type numbered struct {
		ID         int64    `parquet:"id"`
		References []string `parquet:"references,list"`
	}
	type bare struct {
		ID string `parquet:"id"`
	}
	type plain struct {
		ID         string `parquet:"id"`
		References string `parquet:"references"`
	}
	type variants struct {
		ID         string          `parquet:"id"`
		References []string        `parquet:"references,list"`
		Variants   []variantRecord `parquet:"variants,list"`
	}
	of := func(v variantRecord) []byte {
		return rowsOf(t, variants{"a", []string{"r"}, []variantRecord{v}})
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "d.parquet: not a Parquet file; for JSON Lines write jsonl:FILE"},
		{"text", []byte("{\"id\":1}\n"), "d.parquet: not a Parquet file; for JSON Lines write jsonl:FILE"},
		{"cut off", encodeParquet(t, &refract.Segment{ID: "a"})[:100], "d.parquet: the Parquet file is cut off or damaged"},
		{"unknown column", rowsOf(t, misspelt{}), `d.parquet: unknown column "sourse" (did you mean "source"?)`},
		{"type", rowsOf(t, numbered{}), "d.parquet: column id is of type INT64"},
		{"no references", rowsOf(t, bare{}), `d.parquet: there is no column references; read a file with other columns as 'table:d.parquet,id=id,reference=COLUMN,system:NAME=COLUMN'`},
		{"references as text", rowsOf(t, plain{}), `d.parquet: unknown column "references"`},
		{"bomb", unpackingTo(t, maxLine+2*refract.DefaultMaxText, rowsOf(t, plain{References: "a"})), "d.parquet: column id unpacks to 48 MiB for 1 value"},
		{"bomb of empty elements", rowsOf(t, smallest{"a", make([]string, 5<<20)}), "d.parquet: column references.list.element unpacks to 79 MiB for 5242880 values"},
		{"no rows", rowsOf[smallest](t), "d.parquet: the dataset is empty: no segment at all"},
		{"no id", rowsOf(t, smallest{}), "d.parquet:1: the segment has no id; each segment needs a unique, non-empty id"},
		{"UTF-8", rowsOf(t, smallest{ID: "a"}, smallest{ID: "b", References: []string{"\xff"}}), `d.parquet:2: it has "\xff", which is not UTF-8`},
		{"parent", of(variantRecord{Reference: 1}), `d.parquet:1: segment "a": variants[0] is of reference 1, but the segment has 1 reference (the first is 0)`},
		{"sample", of(variantRecord{Sample: -1}), `d.parquet:1: variants[0] has the sample -1`},
		{"tokens", of(variantRecord{RawIs: "text", PromptTokens: -1}), `d.parquet:1: variants[0] has -1 tokens`},
		{"raw_is", of(variantRecord{RawIs: "same"}), `d.parquet:1: variants[0] has the raw_is "same"; write "text", "raw" or "missing"`},
		{"raw_is absent", of(variantRecord{Revision: "r"}), `d.parquet:1: variants[0] has an origin, but raw_is is ""; write "text", "raw" or "missing"`},
		{"created", of(variantRecord{RawIs: "text", Created: "today"}), `d.parquet:1: variants[0] was created at "today"; write a date and time such as 2024-02-29T13:00:00Z`},
		{"sampling", of(variantRecord{RawIs: "text", Sampling: "[]"}), `d.parquet:1: variants[0] has the sampling parameters "[]", which are not a JSON object on one line`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "d.parquet")
			writeFile(t, path, c.b)
			_, err := openAndCollect(Open("parquet:"+path, Options{}))
			if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), c.want) {
				t.Errorf("error %v\nwant  %s", err, c.want)
			}
		})
	}
	// The smallest possible file.
	path := filepath.Join(t.TempDir(), "d.parquet")
	writeFile(t, path, rowsOf(t, smallest{"a", []string{"r", ""}}))
	got, err := openAndCollect(Open("parquet:"+path, Options{}))
	if err != nil || len(got) != 1 || len(got[0].References) != 2 || got[0].Source.Valid {
		t.Errorf("%+v, %v", got, err)
	}
	dir := t.TempDir()
	_, err = Open("parquet:"+dir, Options{})
	wantError(t, dir, err, "DIR: has no Parquet file, nor has its folder data")
	_, err = Open("parquet:"+filepath.Join(dir, "none"), Options{})
	wantError(t, dir, err, "none: no such file or directory")
}

// Values without a column are missing, also in variants.
func TestParquetAbsentColumns(t *testing.T) {
	type variant struct {
		Text string `parquet:"text"`
	}
	type few struct {
		ID         string    `parquet:"id"`
		References []string  `parquet:"references,list"`
		Variants   []variant `parquet:"variants,list"`
	}
	path := filepath.Join(t.TempDir(), "d.parquet")
	writeFile(t, path, rowsOf(t, few{"a", []string{"r"}, []variant{{"v"}, {"w"}}}))
	got, err := openAndCollect(Open("parquet:"+path, Options{}))
	require.True(t, err == nil && len(got) == 1, "%+v, %v", got, err)
	want := []refract.Variant{{Text: refract.NewText("v")}, {Text: refract.NewText("w")}}
	assert.Empty(t, cmp.Diff(want, got[0].Variants))
}

// A set that pandas or Polars has rewritten is read back as the same set: 64-bit integers,
// reordered columns, lists without any values, and columns that earlier versions wrote.
func TestParquetFromDataFrames(t *testing.T) {
	type variant struct {
		Prompt    string   `parquet:"prompt"`
		Reference int64    `parquet:"reference"`
		Text      *string  `parquet:"text"`
		Doubt     *float64 `parquet:"doubt"`
	}
	type row struct {
		Variants   []variant `parquet:"variants,list"`
		References []string  `parquet:"references,list"`
		ID         string    `parquet:"id"`
	}
	words := "a dog"
	read := func(reference int64) ([]*refract.Segment, error) {
		path := filepath.Join(t.TempDir(), "d.parquet")
		writeFile(t, path, rowsOf(t, row{[]variant{{"p", reference, &words, nil}}, []string{"the dog", "one dog"}, "a"}))
		return openAndCollect(Open("parquet:"+path, Options{}))
	}
	got, err := read(1)
	if err != nil || len(got) != 1 || len(got[0].Variants) != 1 || got[0].Variants[0].Reference != 1 || got[0].Variants[0].Text.Value != words {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err = read(1 << 32)
	assert.ErrorContains(t, err, "column variants.reference is of type INT64", "a number without room")

	// Without variants there are none, and the index of pandas is not a column.
	type few struct {
		ID         string   `parquet:"id"`
		References []string `parquet:"references,list"`
		Index      int64    `parquet:"__index_level_0__"`
	}
	packed := filepath.Join(t.TempDir(), "d.parquet")
	writeFile(t, packed, rowsOf(t, few{"a", []string{"r"}, 7}))
	got, err = openAndCollect(Open("parquet:"+packed, Options{}))
	if err != nil || len(got) != 1 || len(got[0].Variants)+len(got[0].Rejected) > 0 {
		t.Errorf("without variants: %+v, %v", got, err)
	}
	// The library decodes some LZ4 files as zeros.
	require.NoError(t, parquet.WriteFile(packed, []few{{"a", []string{"r"}, 7}}, parquet.Compression(&parquet.Lz4Raw)))
	_, err = openAndCollect(Open("parquet:"+packed, Options{}))
	assert.ErrorContains(t, err, "write it with zstd or snappy")

	nothing := parquet.List(parquet.Optional(parquet.Leaf(parquet.NullType)))
	schema := parquet.NewSchema("set", parquet.Group{
		"id": parquet.String(), "references": parquet.List(parquet.String()), "rejected": nothing, "source": parquet.Optional(parquet.Leaf(parquet.NullType)),
	})
	var b bytes.Buffer
	w := parquet.NewWriter(&b, schema)
	require.NoError(t, w.Write(map[string]any{"id": "a", "references": []string{"r"}, "rejected": []any{}, "source": nil}))
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "d.parquet")
	writeFile(t, path, b.Bytes())
	got, err = openAndCollect(Open("parquet:"+path, Options{}))
	if err != nil || len(got) != 1 || len(got[0].Rejected) > 0 || got[0].Source.Valid || got[0].References[0].Value != "r" {
		t.Errorf("null columns: %+v, %v", got, err)
	}
}

// A damaged file is an error or is read as something, but never ends the program.
func TestParquetDamage(t *testing.T) {
	s := &refract.Segment{ID: "a", References: []refract.Text{refract.NewText("r")}}
	for i := range 20 {
		s.Variants = append(s.Variants, refract.Variant{Text: refract.NewText(strings.Repeat("v", i)), Origin: &refract.Origin{Cleaned: []string{"x"}}})
	}
	whole := encodeParquet(t, s)
	path := filepath.Join(t.TempDir(), "d.parquet")
	for i := 0; i < len(whole); i += 31 {
		b := bytes.Clone(whole)
		b[i] ^= byte(1 + i%255)
		writeFile(t, path, b)
		ds, err := Open("parquet:"+path, Options{})
		if err != nil {
			continue
		}
		for _, err := range ds.Segments(context.Background()) {
			if err != nil {
				break
			}
		}
	}
}

func TestParquetEncoderErrors(t *testing.T) {
	e := NewParquetEncoder(&bytes.Buffer{})
	if err := e.Encode(&refract.Segment{}); err == nil || err.Error() != `cannot write segment "": it has no id` {
		t.Errorf("error %v", err)
	}
	assert.Error(t, e.Close(), "closed in spite of the error")
	e = NewParquetEncoder(fullDisk{})
	err := e.Encode(&refract.Segment{ID: "1"})
	if err == nil {
		err = e.Close()
	}
	assert.Error(t, err, "no error of a full disk")
	e = NewParquetEncoder(&bytes.Buffer{})
	assert.NoError(t, e.Close())
	assert.Error(t, e.Encode(&refract.Segment{ID: "1"}), "written after the end")
}

// What the foot of a file says of its columns and rows is not believed where it contradicts itself.
func TestParquetFoot(t *testing.T) {
	type row struct {
		ID string `parquet:"id"`
		A  string `parquet:"a,optional"`
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	require.NoError(t, parquet.WriteFile(path, []row{{"1", "x"}, {"2", "y"}}))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	foot := len(whole) - 8 - int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	for want, change := range map[string]func(m *format.FileMetaData){
		`it states 3 rows, and its row groups 2`:                           func(m *format.FileMetaData) { m.NumRows = 3 },
		`a row group has 2 rows, and column a 1`:                           func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.NumValues = 1 },
		`two columns are named "id"`:                                       func(m *format.FileMetaData) { m.Schema[2].Name = "id" },
		`column "a" is neither required, optional nor repeated`:            func(m *format.FileMetaData) { m.Schema[2].RepetitionType.V = 7 },
		`column "a" is of type FLOAT16, which is not read; write it as FL`: func(m *format.FileMetaData) { m.Schema[2].LogicalType.Value = &format.Float16Type{} },
	} {
		var m format.FileMetaData
		require.NoError(t, thrift.Unmarshal(new(thrift.CompactProtocol), whole[foot:len(whole)-8], &m))
		change(&m)
		b, err := thrift.Marshal(new(thrift.CompactProtocol), m)
		require.NoError(t, err)
		b = binary.LittleEndian.AppendUint32(append(bytes.Clone(whole[:foot]), b...), uint32(len(b)))
		writeFile(t, path, append(b, "PAR1"...))
		ds, err := Open("table:"+path+",id=id,reference=a", Options{})
		if err == nil {
			for _, e := range ds.Segments(context.Background()) {
				err = e
			}
		}
		assert.ErrorContains(t, err, want)
	}
}

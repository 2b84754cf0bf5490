package dataset

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

func drawPointer(t *rapid.T, label string) *string {
	if rapid.IntRange(0, 4).Draw(t, label+" missing") == 0 {
		return nil
	}
	s := rapid.StringN(0, 6, -1).Draw(t, label)
	return &s
}

// Number types that the library would misread are refused.
func TestTableParquetUnsigned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	type row struct {
		ID   uint64 `parquet:"id"`
		Text string `parquet:"text"`
	}
	require.NoError(t, parquet.WriteFile(path, []row{{1 << 63, "a"}}))
	_, err := openAndCollect(Open("table:"+path+",id=id,reference=text", Options{}))
	assert.ErrorContains(t, err, `column "id" has unsigned numbers of 64 bits: write them as int64, or as text`)
}

// Other people's columns, whatever their pages and row groups.
func TestTableParquet(t *testing.T) {
	type inner struct {
		Text *string `parquet:"text"`
		N    int64   `parquet:"n"`
	}
	type row struct {
		Key   int32     `parquet:"key"`
		Pair  *inner    `parquet:"pair"`
		Refs  []*string `parquet:"refs,list"`
		More  []inner   `parquet:"more,list"`
		Plain []string  `parquet:"plain"` // repeated, without the levels of a list
		Out   string    `parquet:"out,dict"`
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		rows := make([]row, n)
		want := make([]*refract.Segment, n)
		for i := range rows {
			r := &rows[i]
			r.Key = int32(i) - 3
			s := &refract.Segment{ID: strconv.Itoa(i + 1)}
			if rapid.Bool().Draw(t, "pair") {
				r.Pair = &inner{Text: drawPointer(t, "source")}
				s.Source = textOf(r.Pair.Text)
			}
			for range rapid.IntRange(0, 3).Draw(t, "refs") {
				r.Refs = append(r.Refs, drawPointer(t, "ref"))
				s.References = append(s.References, textOf(r.Refs[len(r.Refs)-1]))
			}
			for range rapid.IntRange(0, 3).Draw(t, "more") {
				r.More = append(r.More, inner{Text: drawPointer(t, "more")})
				s.References = append(s.References, textOf(r.More[len(r.More)-1].Text))
			}
			for range rapid.IntRange(0, 3).Draw(t, "plain") {
				r.Plain = append(r.Plain, rapid.StringN(0, 3, -1).Draw(t, "plain text"))
				s.References = append(s.References, refract.NewText(r.Plain[len(r.Plain)-1]))
			}
			r.Out = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "out")
			s.Hypotheses = []refract.Hypothesis{{System: "x", Text: refract.NewText(r.Out)}}
			want[i] = s
		}
		path := filepath.Join(dir, "d.parquet")
		file, err := os.Create(path)
		require.NoError(t, err)
		w := parquet.NewGenericWriter[row](file, parquet.PageBufferSize(rapid.IntRange(1, 64).Draw(t, "page")))
		for i := range rows {
			_, err := w.Write(rows[i : i+1])
			require.NoError(t, err)
			if rapid.IntRange(0, 3).Draw(t, "group") == 0 {
				require.NoError(t, w.Flush())
			}
		}
		require.NoError(t, w.Close())
		require.NoError(t, file.Close())
		ds, err := Open("table:"+path+",source=pair.text,references=refs,references=more.text,references=plain,system:x=out", Options{})
		got, err := openAndCollect(ds, err)
		require.NoError(t, err)
		for _, s := range got {
			s.Pos = refract.Position{}
		}
		require.Empty(t, cmp.Diff(want, got))
	})
}

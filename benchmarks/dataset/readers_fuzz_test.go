package dataset

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

func seed(f *testing.F, files ...string) {
	f.Helper()
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(file)))
		require.NoError(f, err)
		f.Add(string(b))
	}
}

// sound checks properties of all readers' segments: they can be written and read again, and
// no score is NaN or infinite.
func sound(t *testing.T, segments []*refract.Segment) {
	t.Helper()
	if len(segments) == 0 {
		return // an error when the dataset is opened
	}
	ids := map[string]bool{}
	for _, s := range segments {
		require.True(t, s.ID != "" && !ids[s.ID], "the id %q is empty or there twice", s.ID)
		ids[s.ID] = true
		for _, j := range s.Judgements {
			if math.IsNaN(j.Score) || math.IsInf(j.Score, 0) || !j.Valid && j.Score != 0 {
				t.Fatalf("judgement %+v", j)
			}
		}
	}
	again, err := decode(encode(t, segments...))
	require.NoError(t, err)
	require.Equal(t, len(segments), len(again), "%d segments, %d when read again", len(segments), len(again))
	for i, s := range again {
		if !slices.Equal(s.Hypotheses, segments[i].Hypotheses) && len(s.Hypotheses) > 0 || len(s.References) != len(segments[i].References) {
			t.Fatal(cmp.Diff(segments[i], s))
		}
	}
}

func fileOf(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "f")
	writeFile(t, path, []byte(text))
	return path
}

// No row is lost, and no score of a table is NaN.
func FuzzTableText(f *testing.F) {
	f.Add("a,b,c\n1,x,2\n2,\"y\n\",NaN\n", ".csv")
	f.Add("a;b;c\n1;['x', None];2\n", ".csv")
	f.Add(`{"a":1,"b":["x",null],"c":1.5}`, ".jsonl")
	f.Fuzz(func(t *testing.T, text, ext string) {
		if ext != ".csv" && ext != ".tsv" && ext != ".jsonl" {
			return
		}
		path := filepath.Join(t.TempDir(), "f"+ext)
		writeFile(t, path, []byte(text))
		all, err := openAndCollect(Open("table:"+path+",id=a,references=b,system:s=a,human:q=c", Options{}))
		require.False(t, err == nil && len(all) == 0, "no segment and no error")
		if err == nil {
			sound(t, all)
		}
	})
}

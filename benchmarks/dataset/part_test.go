package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/google/go-cmp/cmp"
	"github.com/refract-eval/refract"
)

// unplaced reads a dataset, without the positions of its segments.
func unplaced(ds refract.Dataset) ([]*refract.Segment, error) {
	all, err := collect(ds)
	for _, s := range all {
		s.Pos = refract.Position{}
	}
	return all, err
}

// checkParts checks that the parts of a dataset together are the whole.
func checkParts(t *testing.T, ds refract.Dataset, n int) {
	want, err := unplaced(ds)
	require.NoError(t, err)
	var got []*refract.Segment
	for i := 1; i <= n; i++ {
		part, _, err := Cut(context.Background(), ds, i, n)
		require.NoError(t, err)
		segments, err := unplaced(part)
		if err != nil {
			t.Fatalf("part %d of %d: %v", i, n, err)
		}
		got = append(got, segments...)
	}
	require.Empty(t, cmp.Diff(want, got), "%d parts", n)
}

// The input of a part differs if any segment of the whole differs.
func TestPartInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl")
	input := func(text string) string {
		writeFile(t, path, []byte(text))
		ds, err := Open("jsonl:"+path, Options{})
		require.NoError(t, err)
		_, input, err := Cut(t.Context(), ds, 1, 2)
		require.NoError(t, err)
		return input
	}
	const text = `{"id":"a","references":["x"]}` + "\n" + `{"id":"b","references":["y"]}` + "\n"
	first := input(text)
	if input(text) != first {
		t.Error("the same input is another one")
	}
	if input(strings.Replace(text, "y", "z", 1)) == first {
		t.Error("another second half is the same")
	}
}

// The parts together are the whole, however many they are, also for line-aligned files.
func TestPartsOfLines(t *testing.T) {
	dir := folderOf(t, map[string]string{"ref.txt": "a\nb\nc\nd\ne\n", "hyp.txt": "1\n2\n3\n4\n5\n", "more.txt": "['x']\n[]\n['y', 'z']\n[]\n['w']\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	ds, err := OpenLines(LinesSpec{References: []string{at("ref.txt")}, Hypotheses: []NamedFile{{"s", at("hyp.txt")}}}, Options{})
	if err == nil {
		ds, err = WithReferences(ds, "div-ref-lines:"+at("more.txt"), Options{})
	}
	require.NoError(t, err)
	for n := range 6 {
		checkParts(t, ds, n+1)
	}
}

// Several files of Parquet are one dataset.
func TestPartsOfParquet(t *testing.T) {
	dir := t.TempDir()
	for k, ids := range []string{"abc", "d", "efghi"} {
		var rows []*refract.Segment
		for _, id := range ids {
			rows = append(rows, &refract.Segment{ID: string(id), References: []refract.Text{refract.NewText(string(id))}})
		}
		writeFile(t, filepath.Join(dir, fmt.Sprintf("%d.parquet", k)), encodeParquet(t, rows...))
	}
	ds, err := Open("parquet:"+dir, Options{})
	require.NoError(t, err)
	for n := range 4 {
		checkParts(t, ds, n+1)
	}
}

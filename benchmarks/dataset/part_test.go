package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
func checkParts(t require.TestingT, ds refract.Dataset, n int) (extents []Extent) {
	want, err := unplaced(ds)
	require.NoError(t, err)
	var got []*refract.Segment
	for i := 1; i <= n; i++ {
		part, of, err := Cut(context.Background(), ds, i, n)
		require.NoError(t, err)
		segments, err := unplaced(part)
		require.NoError(t, err, "part %d of %d", i, n)
		if size, known := Len(part); known {
			require.Len(t, segments, size)
		}
		got, extents = append(got, segments...), append(extents, of)
	}
	require.Empty(t, cmp.Diff(want, got), "%d parts", n)
	return extents
}

// The input of a part differs if any segment of the whole differs.
func TestPartInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl")
	input := func(text string) Extent {
		writeFile(t, path, []byte(text))
		ds, err := Open("jsonl:"+path, Options{})
		require.NoError(t, err)
		_, input, err := Cut(t.Context(), ds, 1, 2)
		require.NoError(t, err)
		return input
	}
	const text = `{"id":"a","references":["x"]}` + "\n" + `{"id":"b","references":["y"]}` + "\n"
	first := input(text)
	assert.Equal(t, first, input(text), "the same input is another one")
	assert.True(t, input(strings.Replace(text, "y", "z", 1)) != first, "another second half is the same")
}

// Ranges of bytes give the segments of the file, their lines and its error, and are whole only
// together.
func TestPartsOfBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	path := filepath.Join(t.TempDir(), "d.jsonl")
	for range 200 {
		var b strings.Builder
		lines := 1 + random.IntN(12)
		wrong := random.IntN(3 * lines)
		for i := range lines {
			if i == wrong {
				b.WriteString([]string{"{}\n", "\n", `{"id":"0","references":[]}` + "\n", PartHead + "\n"}[random.IntN(4)])
			}
			fmt.Fprintf(&b, `{"id":"%d","references":["%s"]}%s`, i, strings.Repeat("é", random.IntN(40)), []string{"\n", "\r\n"}[random.IntN(2)])
		}
		text := strings.TrimSuffix(b.String()+strings.Repeat(" \n", random.IntN(3)), []string{"\n", "never"}[random.IntN(2)])
		writeFile(t, path, []byte(text))
		ds, err := Open("jsonl:"+path, Options{})
		want, wantErr := openAndCollect(ds, err)
		n := 1 + random.IntN(15)
		var got []*refract.Segment
		var extents []Extent
		for i := 1; i <= n; i++ {
			part, extent, err := Cut(t.Context(), ds, i, n)
			require.NoError(t, err)
			segments, err := collect(part)
			for _, s := range segments {
				s.Pos = refract.Position{File: path, Line: s.Pos.InFile()}
			}
			got, extents = append(got, segments...), append(extents, extent)
			if err != nil {
				if wantErr == nil || err.Error() != wantErr.Error() {
					t.Fatalf("part %d of %d: %v, want %v\n%s", i, n, err, wantErr, text)
				}
				break
			}
		}
		twice := wantErr != nil && strings.Contains(wantErr.Error(), "already used") // which one part may not see
		if d := cmp.Diff(want, got); d != "" && !twice {
			t.Fatalf("%d parts of %q: %s", n, text, d)
		}
		if len(extents) < n {
			continue
		}
		require.True(t, Whole(extents), "%d parts of %q are not whole: %v", n, text, extents)
		for k := range extents {
			other := slices.Clone(extents)
			other[k].Bytes = strings.Repeat("0", 32)
			if Whole(other) || extents[k].From < extents[k].To && n > 1 && Whole(slices.Delete(slices.Clone(extents), k, k+1)) {
				t.Fatalf("whole without part %d: %v", k+1, extents)
			}
		}
	}
}

// Row groups of one or several files are parts where there are as many; otherwise all is read.
func TestPartsOfGroups(t *testing.T) {
	type row struct {
		ID         string   `parquet:"id"`
		References []string `parquet:"references,list"`
		Source     *string  `parquet:"source"`
		Language   string   `parquet:"language"`
		Document   string   `parquet:"document"`
	}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		ids, groups := 0, 0
		for f := range rapid.IntRange(1, 3).Draw(t, "files") {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(rapid.IntRange(1, 200).Draw(t, "page")))
			for range rapid.IntRange(min(1, 1-f), 6).Draw(t, "groups") {
				groups++
				for range rapid.IntRange(1, 5).Draw(t, "rows") {
					text := drawString(t)
					_, err := w.Write([]row{{fmt.Sprint("s", ids), []string{text, "x"}, &text, "en", fmt.Sprint(ids / 3)}})
					require.NoError(t, err)
					ids++
				}
				require.NoError(t, w.Flush())
			}
			require.NoError(t, w.Close())
			writeFile(t, filepath.Join(dir, fmt.Sprint(f, ".parquet")), b.Bytes())
		}
		n := rapid.IntRange(1, 8).Draw(t, "parts")
		for _, spec := range []string{"parquet:" + dir, "table:" + dir + ",id=id,references=references,source=source,language=language", "table:" + dir + ",reference=source,system:a=id,human:h=document,keep=*"} {
			ds, err := Open(spec, Options{})
			require.NoError(t, err)
			extents := checkParts(t, ds, n)
			require.Equal(t, groups >= n, extents[0].Size > 0, "%d groups, %d parts", groups, n)
			require.True(t, Whole(extents), "%v", extents)
			all, err := Identify(context.Background(), ds)
			require.NoError(t, err)
			skimmed, err := IdentifyParts(context.Background(), ds)
			require.NoError(t, err)
			require.Equal(t, all.Hash(), skimmed.Hash())
		}
	})
}

// Skimmed lines identify the same references.
func TestSkim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawSegment(t, drawString(t)+"x")
		line := []byte(encode(t, want))
		if rapid.Bool().Draw(t, "spaced") {
			var spaced bytes.Buffer
			json.Indent(&spaced, line, " ", "\t")
			line = spaced.Bytes()
		}
		got := skim(line, want.Pos)
		ids := []*refract.Identity{refract.NewIdentity(), refract.NewIdentity()}
		ids[0].Add(want)
		ids[1].Add(got)
		if got.ID != want.ID || got.Source != want.Source || got.Language != want.Language || ids[0].Hash() != ids[1].Hash() {
			t.Fatalf("%v of %s", got, line)
		}
	})
	for _, line := range []string{"", "{", `{"id":"a`, `{"id":"a"`, `{"id":"a","references":["x"`, `{"id":"a","references":[1]}`, `{"references":[]}`, `{"id":"a","\u0072eferences":[]}`, `"`} {
		assert.Nil(t, skim([]byte(line), refract.Position{}), "%s", line)
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

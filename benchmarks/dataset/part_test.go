package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

// unplaced reads a dataset, without where its segments stand.
func unplaced(ds refract.Dataset) ([]*refract.Segment, error) {
	all, err := collect(ds)
	for _, s := range all {
		s.Pos = refract.Position{}
	}
	return all, err
}

type fatal interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// checkParts wants that the parts of a dataset are the whole, one after the other.
func checkParts(t fatal, ds refract.Dataset, n int) {
	want, err := unplaced(ds)
	if err != nil {
		t.Fatal(err)
	}
	var got []*refract.Segment
	end := int64(0)
	for i := 1; i <= n; i++ {
		part, err := Cut(context.Background(), ds, i, n)
		if err != nil {
			t.Fatal(err)
		}
		if part.Input.From != end {
			t.Fatalf("part %d of %d begins at %d, and the one before ends at %d", i, n, part.Input.From, end)
		}
		end = part.Input.To
		segments, err := unplaced(part)
		if err != nil {
			t.Fatalf("part %d of %d: %v", i, n, err)
		}
		if i == n && end != part.Input.Size {
			t.Fatalf("the last of %d parts ends at %d of %d", n, end, part.Input.Size)
		}
		got = append(got, segments...)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%d parts: %s", n, d)
	}
}

// Lines are neither lost nor doubled, wherever they are cut.
func TestPartsOfLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		if rapid.Bool().Draw(t, "mark") {
			b.WriteString("\ufeff")
		}
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		n := rapid.IntRange(1, 30).Draw(t, "segments")
		for i := range n {
			long := strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 7, 300, 300_000}).Draw(t, "length"))
			fmt.Fprintf(&b, `{"id":"%d","references":["%s"]}`, i, long)
			if i < n-1 || rapid.Bool().Draw(t, "last") {
				b.WriteString(end)
			}
		}
		if strings.HasSuffix(b.String(), "\n") {
			b.WriteString(strings.Repeat(rapid.SampledFrom([]string{"\n", " \r\n", "\t\n"}).Draw(t, "blank"), rapid.IntRange(0, 9).Draw(t, "blanks")))
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		ds, err := Open("jsonl:"+path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkParts(t, ds, rapid.IntRange(1, 40).Draw(t, "parts"))
	})
}

// A blank line before further ones is a fault of one of the parts too, with its
// line of the file.
func TestPartsOfBlankLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl")
	text := `{"id":"a","references":[]}` + "\n \n\r\n" + `{"id":"b","references":[]}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ds, err := Open("jsonl:"+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, want := unplaced(ds)
	if want == nil || !strings.Contains(want.Error(), path+":2: blank line before further segments") {
		t.Fatal(want)
	}
	for n := 1; n < 2*len(text); n++ {
		faults := 0
		for i := 1; i <= n; i++ {
			part, err := Cut(context.Background(), ds, i, n)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unplaced(part); err != nil {
				faults++
				if err.Error() != want.Error() {
					t.Fatalf("%v, want %v", err, want)
				}
			}
		}
		if faults != 1 {
			t.Errorf("%d of %d parts are at fault", faults, n)
		}
	}
}

// The input of a part is another one if its own bytes are, or the whole's size.
func TestPartInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl")
	input := func(i int, change func(string) string) Input {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, `{"id":"%06d","references":["%040d"]}`+"\n", i, i)
		}
		if err := os.WriteFile(path, []byte(change(b.String())), 0o600); err != nil {
			t.Fatal(err)
		}
		ds, err := Open("jsonl:"+path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		part, err := Cut(t.Context(), ds, i, 2)
		if err != nil {
			t.Fatal(err)
		}
		return part.Input
	}
	same := func(s string) string { return s }
	longer := func(s string) string { return s + `{"id":"x","references":[]}` + "\n" }
	changed := func(s string) string { return strings.Replace(s, "019997", "019x97", 1) }
	first, second := input(1, same), input(2, same)
	if input(1, same) != first {
		t.Error("the same input is another one")
	}
	if input(1, longer).Whole == first.Whole {
		t.Error("a longer input is the same")
	}
	if input(2, changed) == second {
		t.Error("another second half is the same")
	}
}

// Files that belong together line by line are read through.
func TestPartsOfLinesBeside(t *testing.T) {
	dir := folderOf(t, map[string]string{"ref.txt": "a\nb\nc\nd\ne\n", "hyp.txt": "1\n2\n3\n4\n5\n", "more.txt": "['x']\n[]\n['y', 'z']\n[]\n['w']\n"})
	at := func(name string) string { return filepath.Join(dir, name) }
	ds, err := OpenLines(LinesSpec{References: []string{at("ref.txt")}, Hypotheses: []NamedFile{{"s", at("hyp.txt")}}}, Options{})
	if err == nil {
		ds, err = WithReferences(ds, "div-ref-lines:"+at("more.txt"), Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for n := range 9 {
		checkParts(t, ds, n+1)
	}
}

// Rows of several files of Parquet are cut wherever the parts begin.
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
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		checkParts(t, ds, n+1)
	}
}

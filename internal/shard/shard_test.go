package shard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/shard"
)

// part is the content of one shard.
type part struct {
	ids    []string
	bodies []string
}

// write writes shards, and returns their files and the expected merged content.
func write(t rapid.TB, dir string, parts []part) (files []string, ids, body string, id *refract.Identity) {
	t.Helper()
	id = refract.NewIdentity()
	for i, p := range parts {
		var b bytes.Buffer
		w := shard.NewWriter(&b, shard.Manifest{
			Version: "1", Command: "score", Index: i + 1, Of: len(parts), Settings: map[string][]string{"--metric": {"chrf"}},
			Input: dataset.Input{Unit: "rows", From: int64(i), To: int64(i + 1), Size: int64(len(parts)), Whole: "w"},
		})
		for _, name := range p.ids {
			s := &refract.Segment{ID: name, References: []refract.Text{refract.NewText("of " + name)}}
			id.Add(s)
			if err := w.Segment(name, refract.AppendReferences(nil, s)); err != nil {
				t.Fatal(err)
			}
			ids += name + " "
		}
		for _, text := range p.bodies {
			if _, err := io.WriteString(w, text); err != nil {
				t.Fatal(err)
			}
			body += text
		}
		if err := errors.Join(w.Totals(i), w.Close("details")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, shard.Name("out", i+1, len(parts)))
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	return files, ids, body, id
}

func drawParts(t *rapid.T) []part {
	parts := make([]part, rapid.IntRange(1, 6).Draw(t, "shards"))
	n := 0
	for i := range parts {
		for range rapid.IntRange(0, 5).Draw(t, "segments") {
			n++
			parts[i].ids = append(parts[i].ids, fmt.Sprintf("s%d", n))
		}
		for range rapid.IntRange(0, 4).Draw(t, "bodies") {
			text := rapid.StringN(0, 9, -1).Draw(t, "body")
			parts[i].bodies = append(parts[i].bodies, strings.Repeat(text, rapid.SampledFrom([]int{1, 20_000}).Draw(t, "times")))
		}
	}
	return parts
}

// Shards are merged in their own order, whatever the order of the arguments.
func TestMerge(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	rapid.Check(t, func(t *rapid.T) {
		files, _, want, id := write(t, dir, drawParts(t))
		set, err := shard.Open(ctx, rapid.Permutation(files).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := set.Each(ctx, func(r io.Reader) error { _, err := io.Copy(&got, r); return err }); err != nil {
			t.Fatal(err)
		}
		if got.String() != want || set.Segments != id.Segments() {
			t.Fatalf("%d bytes of %d segments, want %d of %d", got.Len(), set.Segments, len(want), id.Segments())
		}
		if set.Segments > 0 && set.Identity.Hash() != id.Hash() {
			t.Fatal("another set of references")
		}
		var totals strings.Builder
		if err := set.EachTotals(ctx, func(r io.Reader) error { _, err := io.Copy(&totals, r); return err }); err != nil {
			t.Fatal(err)
		}
		if want := "012345"[:len(files)]; totals.String() != want {
			t.Fatalf("totals %s, want %s", totals.String(), want)
		}
	})
}

// A shard that is cut off, or has one changed byte, is refused.
func TestDamage(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	rapid.Check(t, func(t *rapid.T) {
		files, _, _, _ := write(t, dir, drawParts(t))
		path := rapid.SampledFrom(files).Draw(t, "file")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(whole)-1).Draw(t, "at")
		damaged := bytes.Clone(whole)
		if rapid.Bool().Draw(t, "cut") {
			damaged = damaged[:at]
		} else {
			damaged[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := shard.Verify(ctx, path, nil); err == nil {
			t.Fatal("it is verified")
		}
		_, err = shard.Open(ctx, files)
		if err == nil {
			t.Fatal("it is merged")
		}
		if fault := (*shard.Error)(nil); !errors.As(err, &fault) && !strings.Contains(err.Error(), "missing") {
			t.Fatalf("%v names no file", err)
		}
	})
}

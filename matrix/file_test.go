package matrix_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/matrix"
)

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestFiles(t *testing.T) {
	m := sample()
	for _, name := range []string{"m.jsonl", "m.parquet"} {
		t.Run(name, func(t *testing.T) {
			path := tempFile(t, name)
			dir := filepath.Dir(path)
			if err := os.WriteFile(path, []byte("the old one"), 0o600); err != nil {
				t.Fatal(err)
			}
			write := func() *matrix.File {
				f, err := matrix.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range m.Segments {
					if err := matrix.WriteSegment(f, s, m.Metrics); err != nil {
						t.Fatal(err)
					}
				}
				if b, err := os.ReadFile(path); err != nil || string(b) != "the old one" {
					t.Fatalf("before Close the file has %q, %v", b, err)
				}
				return f
			}

			f := write()
			f.Discard()
			if err := f.Close(); err == nil {
				t.Error("a discarded file is closed without an error")
			}
			if got := names(t, dir); got != name {
				t.Errorf("after Discard: %s", got)
			}

			f = write()
			row := matrix.Row{}
			if err := f.Write(&row); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("a bad row: %v", err)
			}
			if err := f.Close(); err == nil {
				t.Error("Close forgets an error of Write")
			}
			if got := names(t, dir); got != name {
				t.Errorf("after an error: %s", got)
			}

			f = write()
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f.Discard()
			if err := f.Close(); err != nil {
				t.Errorf("Close after Close: %v", err)
			}
			if err := f.Write(&row); err == nil {
				t.Error("a row after Close")
			}
			if got := names(t, dir); got != name {
				t.Errorf("after Close: %s", got)
			}
			r, err := matrix.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(r)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, m)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/d.jsonl", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir + "/m.csv":          "name the file .jsonl or .parquet",
		dir + "/none/m.jsonl":   "there is no folder",
		dir + "/none/m.parquet": "there is no folder",
		dir + "/d.jsonl":        "not a regular file",
	} {
		if _, err := matrix.Create(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := names(t, dir); got != "d.jsonl" {
		t.Errorf("left behind: %s", got)
	}
}

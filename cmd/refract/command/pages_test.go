package command

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/internal/helptext"
)

// Every command has a man page, each shell its completions, and the cask of
// Homebrew names them all.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if err := Pages(dir); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, cmd := range commands(testRoot(io.Discard)) {
		if path := cmd.CommandPath(); !strings.HasPrefix(path, "refract completion") && path != "refract help" {
			want = append(want, "man/"+helptext.ManName(cmd)+".1")
		}
	}
	slices.Sort(want)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || len(content) < 200 {
			t.Errorf("%s: %d bytes, %v", file, len(content), err)
		}
		if name, _ := filepath.Rel(dir, file); strings.HasPrefix(name, "man") {
			got = append(got, filepath.ToSlash(name))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(files) - len(got); n != 4 {
		t.Errorf("%d files of completions", n)
	}

	content, err := os.ReadFile(repository + "/.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Casks []struct{ Manpages []string } `yaml:"homebrew_casks"`
	}
	if err := yaml.Unmarshal(content, &release); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, release.Casks[0].Manpages); d != "" {
		t.Errorf("the cask of .goreleaser.yaml has other man pages: %s", d)
	}
}

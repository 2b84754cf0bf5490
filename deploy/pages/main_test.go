package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// Every command has a man page, every shell its completions, and Homebrew's cask names all pages.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if err := pages(dir); err != nil {
		t.Fatal(err)
	}
	var got []string
	files, _ := filepath.Glob(filepath.Join(dir, "man", "*"))
	for _, file := range files {
		got = append(got, "man/"+filepath.Base(file))
	}
	if shells, _ := filepath.Glob(filepath.Join(dir, "completions", "*")); len(shells) != 4 {
		t.Errorf("completions: %v", shells)
	}
	content, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Casks []struct{ Manpages []string } `yaml:"homebrew_casks"`
	}
	if err := yaml.Unmarshal(content, &release); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, release.Casks[0].Manpages); d != "" {
		t.Errorf("the cask of .goreleaser.yaml has other man pages: %s", d)
	}
}

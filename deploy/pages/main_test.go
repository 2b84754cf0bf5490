package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// A release has notes: its page links to CHANGELOG.md, whose first part is about the version, has
// a date, and fits one screen.
func TestNotes(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	parts := regexp.MustCompile(`(?m)^## `).Split(string(text), -1)
	if len(parts) < 2 || !regexp.MustCompile(`^\[`+regexp.QuoteMeta(refract.Version)+`\] - \d{4}-\d\d-\d\d\n`).MatchString(parts[1]) {
		t.Fatalf("CHANGELOG.md does not begin with ## [%s] and its date", refract.Version)
	}
	assert.LessOrEqual(t, strings.Count(parts[1], "\n"), 60, "the notes of %s", refract.Version)
}

// Every command has a man page, every shell its completions, and Homebrew\'s cask names all pages.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, pages(dir))
	var got []string
	files, _ := filepath.Glob(filepath.Join(dir, "man", "*"))
	for _, file := range files {
		got = append(got, "man/"+filepath.Base(file))
	}
	shells, _ := filepath.Glob(filepath.Join(dir, "completions", "*"))
	assert.Len(t, shells, 4, "completions")
	content, err := os.ReadFile("../../.goreleaser.yaml")
	require.NoError(t, err)
	var release struct {
		Casks []struct{ Manpages []string } `yaml:"homebrew_casks"`
	}
	require.NoError(t, yaml.Unmarshal(content, &release))
	assert.Empty(t, cmp.Diff(got, release.Casks[0].Manpages), "the cask of .goreleaser.yaml has other man pages")
}

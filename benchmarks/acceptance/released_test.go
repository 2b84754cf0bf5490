package acceptance_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/acceptance"
)

// What the checks make of released references and rewritings inside the wordings.
func TestReleased(t *testing.T) {
	bases, err := acceptance.ReleasedBases(t.Context(), dataDir())
	known(t, err)
	for part, all := range bases {
		if len(all) < 200 {
			t.Errorf("%s: %d bases", part, len(all))
		}
	}
	withAndWithout(t, "released", func(c *checkers) string { return figures(t, c, bases, 12) })
}

// dataDir is the folder of the real data.
func dataDir() string {
	return cmp.Or(os.Getenv("REFRACT_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
}

// known skips a test where the real data is missing, and fails it for other errors.
func known(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, acceptance.ErrNoData) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The tables of docs/checks.md are those that were measured with language models.
func TestDocs(t *testing.T) {
	var tables []string
	for _, name := range []string{"builtin.md", "released.md", "outside.md", "outside2.md", "outside3.md", "outside4.md", "outside5.md", "outside6.md", "outside7.md", "outside8.md", "heldout.md"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, string(text))
	}
	path := filepath.Join("..", "..", "docs", "checks.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- acceptance: written by the test -->\n", "<!-- acceptance: end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place between %q and %q", path, begin, end)
	}
	want := before + begin + strings.Join(tables, "\n") + end + after
	switch {
	case want == string(text):
	case !*update:
		t.Errorf("the tables of %s are not those of testdata; run go test ./benchmarks/acceptance -update", path)
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

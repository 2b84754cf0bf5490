package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Files in a folder are named, even if the folder's name looks like a pattern.
func TestInputsOfFolders(t *testing.T) {
	for _, name := range []string{"set", "set[1]", "s*t"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Skip(err)
		}
		rows := filepath.Join(dir, "rows.parquet")
		writeFile(t, rows, nil)
		if got := Inputs("parquet:" + dir); !slices.Equal(got, []string{dir, rows}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
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
		got := Inputs("parquet:" + dir)
		assert.True(t, slices.Equal(got, []string{dir, rows}), "%s: %q", name, got)
	}
}

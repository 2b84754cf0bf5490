package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/files"
)

func TestWithin(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{"set/in", "set-other"} {
		require.NoError(t, os.MkdirAll(folder, 0o777))
	}
	if err := os.Symlink("set/in", "link"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		path, folder string
		want         bool
	}{
		{"set/new", "set", true},
		{"./set/in/../in/new", filepath.Join(dir, "set"), true},
		{"link/new", "set", true},
		{"set/in/new", "link", true},
		{"set-other/new", "set", false},
		{"set", "set", false},
		{"new", "set", false},
		{"new", ".", false},
		{"set/new", dir, false}, // it is the working directory
		{"set/new", "..", false},
		{"none/new", "none", false},
	} {
		assert.Equal(t, c.want, files.Within(c.path, c.folder), "%s in %s", c.path, c.folder)
	}
}

package cache_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// Answers that a full cache cannot store wait in the first folder that has room, and the next
// use of the cache takes them up. A file with anything but entries, or that others could have
// written, is neither believed nor removed.
func TestSpare(t *testing.T) {
	const n = 5
	where, folder := filepath.Join(t.TempDir(), "answers.db"), t.TempDir()
	dirs := []string{filepath.Join(folder, "missing"), folder}
	db, err := cache.Open(t.Context(), where)
	require.NoError(t, err)
	spare := cache.NewSpare(db, where, dirs...)
	require.NoError(t, db.Close()) // no Put succeeds any more
	for range 2 {                  // a second try writes nothing twice
		for i := range n {
			require.Error(t, putEntry(t.Context(), spare, newEntry(i)), "a closed cache stores an answer")
		}
	}
	if saved, in, lost := spare.Unstored(); saved != n || len(in) != 1 || !strings.HasPrefix(in[0], folder) || lost != 0 {
		t.Errorf("Unstored = %d, %q, %d", saved, in, lost)
	}
	nowhere := cache.NewSpare(db, where, dirs[0])
	_ = putEntry(t.Context(), nowhere, newEntry(0))
	saved, _, lost := nowhere.Unstored()
	assert.True(t, saved == 0 && lost == 1, "without a folder: %d saved, %d lost", saved, lost)

	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	require.True(t, err == nil && len(files) == n, "%q, %v", files, err)
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	content, err := os.ReadFile(files[0])
	require.NoError(t, err)
	linked := filepath.Join(t.TempDir(), "linked")
	other := []byte(strings.Replace(string(content), `"prompt":"`, `"prompt":"x`, 1))
	require.NoError(t, errors.Join(os.WriteFile(files[0], other, 0o600), os.Chmod(files[1], 0o622),
		os.Rename(files[2], linked), os.Symlink(linked, files[2])))
	again := open(t, where)
	taken, err := cache.NewSpare(again, where, dirs...).TakeUp(t.Context())
	assert.True(t, taken == n-3 && err != nil, "TakeUp = %d, %v", taken, err)
	for _, path := range files[:3] {
		if _, missing := os.Lstat(path); missing != nil || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", path, missing, err)
		}
	}
	verified(t, again, n-3)
	if taken, err := cache.NewSpare(again, where+"2", dirs...).TakeUp(t.Context()); taken != 0 || err != nil {
		t.Errorf("another cache takes up %d, %v", taken, err)
	}
}

package cache_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// The superuser may write everywhere, so it runs this test as another user.
func TestUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestUnwritable$", "-test.v")
		cmd.Dir = os.TempDir()
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if _, ran := err.(*exec.ExitError); err != nil && !ran {
			t.Skipf("cannot run as another user: %v", err)
		}
		if t.Logf("%s", out); err != nil {
			t.Error(err)
		}
		return
	}
	mode := func(path string, mode fs.FileMode) {
		t.Helper()
		require.NoError(t, os.Chmod(path, mode))
	}
	read := func(file string) {
		t.Helper()
		s := open(t, file, cache.ReadOnly())
		st, err := s.Stats(t.Context())
		assert.True(t, err == nil && st.Entries == 3, "Stats = %+v, %v", st, err)
		verified(t, s, 3)
		assert.Equal(t, newEntry(1).Answer, mustGet(t, s, newEntry(1).Request))
		assert.NoError(t, s.Close())
	}

	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		mode(dir, 0o555)
		defer mode(dir, 0o755)
		_, err := cache.Open(t.Context(), filepath.Join(dir, "answers.db"))
		wantError(t, err, cache.ErrReadOnly, "cannot create a file in "+dir)
	})
	t.Run("file", func(t *testing.T) {
		file := filled(t, 3)
		mode(file, 0o444)
		_, err := cache.Open(t.Context(), file)
		wantError(t, err, cache.ErrReadOnly, file, "must be writable")
		read(file)
	})
	t.Run("folder of a file", func(t *testing.T) {
		file := filled(t, 3)
		mode(filepath.Dir(file), 0o555)
		defer mode(filepath.Dir(file), 0o755)
		_, err := cache.Open(t.Context(), file)
		wantError(t, err, cache.ErrReadOnly, file, "must be writable")
		read(file)
	})
	t.Run("unreadable", func(t *testing.T) {
		file := filled(t, 3)
		mode(file, 0)
		for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
			_, err := cache.Open(t.Context(), file, opts...)
			wantError(t, err, cache.ErrReadOnly, file)
		}
	})
}

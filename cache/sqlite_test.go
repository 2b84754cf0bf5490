package cache_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// filled returns a closed cache file with n entries.
func filled(t testing.TB, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "answers.db")
	s, err := cache.Open(t.Context(), file)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			assert.NoError(t, putEntry(t.Context(), s, newEntry(i)))
		})
	}
	wg.Wait()
	require.NoError(t, s.Close())
	return file
}

// execute runs statements on a file like another program.
func execute(t testing.TB, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer db.Close()
	for _, s := range statements {
		_, err := db.ExecContext(t.Context(), s)
		require.NoError(t, err, "%s", s)
	}
}

// names lists the files in a folder.
func names(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

// wantError checks an error's kind and the parts of its text.
func wantError(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	for _, part := range parts {
		assert.Contains(t, err.Error(), part)
	}
}

func TestOpenRefusesPaths(t *testing.T) {
	for _, test := range []struct {
		name, path string // relative to a folder that contains the folder "sub"
		readOnly   bool
		kind       error // nil for any
		want       string
	}{
		{"no folder", "misspelt/answers.db", false, fs.ErrNotExist, "check the path"},
		{"no folder, read only", "misspelt/answers.db", true, fs.ErrNotExist, "check the path"},
		{"no file, read only", "answers.db", true, fs.ErrNotExist, "check the path"},
		{"folder", "sub", false, nil, "it is a folder"},
		{"folder, read only", "sub", true, nil, "it is a folder"},
		{"missing folder as a file", "misspelt/", false, fs.ErrNotExist, "folder does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
			path := dir + string(filepath.Separator) + filepath.FromSlash(test.path)
			var opts []cache.Option
			if test.readOnly {
				opts = append(opts, cache.ReadOnly())
			}
			_, err := cache.Open(t.Context(), path, opts...)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want one with %q and the path", err, test.want)
			}
			if test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("error %v is not %v", err, test.kind)
			}
			assert.Equal(t, "sub", names(t, dir)+names(t, filepath.Join(dir, "sub")))
		})
	}
	_, err := cache.Open(t.Context(), "")
	assert.Error(t, err, "no error for an empty path")
	_, err = cache.Open(t.Context(), os.DevNull)
	assert.Error(t, err, "no error for a device")
}

func TestOpenOddNames(t *testing.T) {
	for _, name := range []string{"50%25?mode=memory#x.db", ":memory:", "file:x"} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		s, err := cache.Open(t.Context(), file)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		assert.NoError(t, errors.Join(putEntry(t.Context(), s, newEntry(1)), s.Close()), name)
		assert.Equal(t, name, names(t, dir), name)
	}
}

func TestNewerVersion(t *testing.T) {
	file := filled(t, 1)
	execute(t, file, "PRAGMA user_version = 7")
	for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
		_, err := cache.Open(t.Context(), file, opts...)
		wantError(t, err, cache.ErrVersion, file, "version 7", "knows 3", "upgrade", "another cache")
	}
}

func TestForeignDatabase(t *testing.T) {
	for _, test := range []struct{ name, statement string }{
		{"tables", "CREATE TABLE t (x)"},
		{"application", "PRAGMA application_id = 1"},
		{"version", "PRAGMA user_version = 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "other.db")
			execute(t, file, test.statement)
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = cache.Open(t.Context(), file)
			wantError(t, err, cache.ErrForeign, file, "another file")
			after, err := os.ReadFile(file)
			assert.True(t, err == nil && bytes.Equal(before, after), "the other program's file was changed (%v)", err)
		})
	}
	file := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := cache.Open(t.Context(), file, cache.ReadOnly())
	wantError(t, err, cache.ErrForeign, file, "empty")
	open(t, file) // an empty file can become a cache
}

func TestFull(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.db")
	s := open(t, file, cache.MaxPages(40))
	big := func(i int) cache.Entry {
		e := newEntry(i)
		e.Text = strings.Repeat("long ", 2000)
		return e
	}
	var stored []int
	var failure error
	for i := range 100 {
		if failure = putEntry(t.Context(), s, big(i)); failure != nil {
			break
		}
		stored = append(stored, i)
	}
	wantError(t, failure, cache.ErrFull, file, "disk full: nothing stored before is lost; free some space, then run again (")
	require.NotEmpty(t, stored, "nothing could be stored at all")
	// Of many concurrent entries, those that fit are stored.
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if i == 0 {
				assert.NoError(t, putEntry(t.Context(), s, big(0)))
			} else if err := putEntry(t.Context(), s, big(200+i)); !errors.Is(err, cache.ErrFull) {
				t.Errorf("Put = %v, want ErrFull", err)
			}
		})
	}
	wg.Wait()
	for _, i := range stored {
		assert.Equal(t, big(i).Answer, mustGet(t, s, big(i).Request), "entry %d after ErrFull", i)
	}
	verified(t, s, int64(len(stored)))
	require.NoError(t, s.Close())
	s = open(t, file) // now there is space again
	assert.NoError(t, putEntry(t.Context(), s, big(99)))
}

func TestReplacedFile(t *testing.T) {
	file := filled(t, 1)
	s := open(t, file)
	if err := os.Rename(file, file+".away"); err != nil {
		t.Skipf("an open file cannot be moved here: %v", err)
	}
	wantError(t, putEntry(t.Context(), s, newEntry(5)), cache.ErrReplaced, file)
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	wantError(t, putEntry(t.Context(), s, newEntry(6)), cache.ErrReplaced, file)
}

func TestReadOnly(t *testing.T) {
	file := filled(t, 3)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	s := open(t, file, cache.ReadOnly())
	wantError(t, putEntry(t.Context(), s, newEntry(5)), cache.ErrReadOnly, file)
	assert.Equal(t, newEntry(1).Answer, mustGet(t, s, newEntry(1).Request))
	st, err := s.Stats(t.Context())
	assert.True(t, err == nil && st.Entries == 3, "Stats = %+v, %v", st, err)
	verified(t, s, 3)
	require.NoError(t, s.Close())
	after, err := os.ReadFile(file)
	assert.True(t, err == nil && bytes.Equal(before, after), "the file was changed (%v)", err)
	assert.Equal(t, "answers.db", names(t, filepath.Dir(file)))
}

// Setting the clock a day forward takes no claim from a living process; setting it a day back
// keeps no claim of a dead process alive.
func TestClaimsWhenTheClockIsSet(t *testing.T) {
	for name, days := range map[string]int{"forward": 1, "back": -1} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "answers.db")
			gone, lives, asks := open(t, file), open(t, file), open(t, file, cache.Lease(time.Second))
			claimer{t, gone}.claim("1", "yes")
			claimer{t, lives}.claim("2", "yes")
			cache.Abandon(gone)
			db, err := sql.Open("sqlite", file)
			require.NoError(t, err)
			defer db.Close()
			_, err = db.Exec("UPDATE owners SET expires = expires - ?", days*24*3600*1000)
			require.NoError(t, err)
			claimer{t, asks}.claim("1 2", "no no")
			awaitClaim(t, asks, keysOf(t, "1"))
		})
	}
}

// lock keeps a file locked through another connection until the test ends.
func lock(t testing.TB, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, errors.Join(conn.Close(), db.Close()))
	})
	for _, s := range statements {
		_, err := conn.ExecContext(t.Context(), s)
		require.NoError(t, err, "%s", s)
	}
}

func TestLocked(t *testing.T) {
	file := filled(t, 1)
	s := open(t, file, cache.BusyTimeout(50*time.Millisecond))
	lock(t, file, "BEGIN EXCLUSIVE")
	wantError(t, putEntry(t.Context(), s, newEntry(5)), cache.ErrLocked, file, "another file")
	// Readers of a log do not wait for a writer.
	mustGet(t, s, newEntry(0).Request)
}

func TestLockedAtOpen(t *testing.T) {
	file := filled(t, 1)
	lock(t, file, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT")
	for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
		_, err := cache.Open(t.Context(), file, append(opts, cache.BusyTimeout(50*time.Millisecond))...)
		wantError(t, err, cache.ErrLocked, file)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = cache.Open(ctx, file, append(opts, cache.BusyTimeout(time.Hour))...)
		wantError(t, err, context.DeadlineExceeded, file)
	}
}

// Waiting for a lock ends with the context, long before the busy timeout. If it does not,
// the test times out.
func TestCancelWhileLocked(t *testing.T) {
	file := filled(t, 1)
	s := open(t, file, cache.BusyTimeout(time.Hour))
	lock(t, file, "BEGIN EXCLUSIVE")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			assert.ErrorIs(t, putEntry(ctx, s, newEntry(10+i)), context.DeadlineExceeded)
		})
	}
	wg.Wait()
	assert.NoError(t, s.Close()) // the writer has given up, too
}
